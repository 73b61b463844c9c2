import pytest
import torch

from brdiv.games import LBF, RESPONSE, TEAMMATE, Reaching, shipped_games
from brdiv.nets import Population
from brdiv.recurrent import Seen
from brdiv.runs import load_learner, save_learner, save_population
from brdiv.serve.match import PERSON, Match
from brdiv.serve.offers import Offer, find_offers
from tests.learners.small import small_net
from tests.test_docs import example, module_of


def begin(game, seats, seed=0, offer=None):
    offer = offer or Offer(type(game).__name__, game)
    agents = [None if name == PERSON else offer.seats[seat][name] for seat, name in enumerate(seats)]
    return Match(offer.game, seats, agents, seed, offer.believer(seats))


@pytest.mark.parametrize("name", shipped_games())
@pytest.mark.parametrize("seat", [TEAMMATE, RESPONSE])
def test_what_a_match_shows_is_what_the_rules_give(name, seat):
    game = shipped_games()[name](horizon=20)
    seats = ["H1", "H1"]
    seats[seat] = PERSON
    match = begin(game, seats)
    luck = torch.Generator().manual_seed(1)
    while not match.over:
        choice = int(torch.randint(game.n_actions, (), generator=luck))
        match.advance(choice)
        assert match.moments[-1].actions[seat] == choice
    state = game.from_view(torch.tensor([match.moments[0].views]))
    for moment in match.moments[1:]:
        state, reward, won = game.step(state, torch.tensor([moment.actions]))
        assert game.view(state)[0].tolist() == moment.views
        assert reward.item() == moment.reward
    assert match.won == won.item()
    assert match.moments[-1].total == pytest.approx(sum(moment.reward for moment in match.moments))


def test_asking_what_is_likely_does_not_change_what_happens():
    told, silent = (begin(LBF(), ["H3", PERSON], seed=5) for _ in range(2))
    told.tells = True
    for choice in [0, 1, 2, 5, 3, 4] * 3:
        told.advance(choice)
        silent.advance(choice)
    assert told.moments[-1].likely[0]
    assert told.moments[-1].likely[1] is None
    assert [moment.views for moment in told.moments] == [moment.views for moment in silent.moments]


def test_what_is_likely_is_what_a_heuristic_then_does():
    match = begin(Reaching(), ["H3", PERSON], seed=2)
    match.tells = True
    match.tell()
    while match.step < 5:
        likely = match.moments[-1].likely[0]
        match.advance(0)
        assert likely[match.moments[-1].actions[0]] == 1.0  # its goal is chosen, so nothing is left to luck


def test_what_is_likely_of_a_learned_teammate_is_its_policy(runs):
    offer = next(offer for offer in find_offers([runs]) if offer.name == "Reaching")
    (label,) = offer.populations
    match = begin(None, [f"{label}:2", PERSON], offer=offer)
    match.tells = True
    match.tell()
    population = offer.populations[label]
    logits = population(match.observation, torch.tensor([[1, 0]]))[0, 0]
    assert match.moments[0].likely[0] == pytest.approx(logits.softmax(-1).tolist(), abs=1e-3)


def test_the_belief_shown_is_that_of_the_plastic_who_plays(runs):
    offer = next(offer for offer in find_offers([runs]) if offer.name == "LBF")
    (label,) = offer.populations
    match = begin(None, [PERSON, f"{label}:plastic"], offer=offer)
    assert match.moments[0].belief == pytest.approx([1 / 3] * 3, abs=1e-3)
    for choice in (1, 1, 5, 2):
        match.advance(choice)
        own = match.seats.memory[RESPONSE]["belief"][0].tolist()
        assert match.moments[-1].belief == pytest.approx(own, abs=1e-4)
    assert max(match.moments[-1].belief) > 0.34


def test_who_has_trained_nothing_plays_with_generated_teammates_that_come_along():
    lbf, *others = find_offers([])
    assert lbf.name == "LBF"
    assert not any(offer.populations for offer in others)
    (label,) = lbf.populations
    matrix = torch.tensor(lbf.matrix(label))
    assert matrix.diagonal().min() > 0.9
    assert (matrix.sum() - matrix.trace()) / 30 < 0.2


def test_runs_come_first_and_are_called_as_brdiv_play_calls_them(runs):
    offers = find_offers([runs / "LBF"])
    assert [offer.name for offer in offers] == ["LBF", "Reaching", "Cooking"]
    label = str(runs / "LBF")
    assert list(offers[0].seats[TEAMMATE])[:3] == [f"{label}:{number}" for number in (1, 2, 3)]
    assert next(iter(offers[0].seats[RESPONSE])) == f"{label}:plastic"
    assert f"{label}:plastic" not in offers[0].seats[TEAMMATE]


def test_a_game_that_says_nothing_of_pages_is_shown_as_text(monkeypatch):
    game = module_of(monkeypatch, "docs_line", example("class Line")).Line()
    offer = Offer("Line", game)
    match = begin(game, ["H1", PERSON], offer=offer)
    match.advance(1)
    (line,) = match.shown(1)["moments"][0]["scene"]
    assert line["text"] == game.text(match.moments[1].views[0])
    assert [action["name"] for action in offer.described()["guide"]["actions"]] == ["action 0", "action 1", "action 2"]


@pytest.fixture
def learner_file(tmp_path):
    game = Reaching()
    about = {"method": {"name": "LIAM", "label": "LIAM"}, "teammates": ["H1"]}
    return save_learner(tmp_path / "run" / "learner.safetensors", small_net(game), game, about).parent


def test_a_learner_is_offered_in_the_best_responses_seat_under_the_name_that_play_knows(learner_file, runs):
    offers = find_offers([learner_file])
    assert [offer.name for offer in offers] == ["Reaching", "LBF", "Cooking"], "the game that was named comes first"
    assert next(iter(offers[0].seats[RESPONSE])) == str(learner_file)
    assert str(learner_file) not in offers[0].seats[TEAMMATE]
    assert offers[0].described()["seats"][RESPONSE][0] == {"id": str(learner_file), "name": "LIAM"}
    assert not offers[0].populations
    both = {offer.name: offer for offer in find_offers([runs, learner_file])}
    assert str(learner_file) in both["Reaching"].seats[RESPONSE]
    assert both["Reaching"].populations


def test_learners_and_populations_below_one_folder_are_all_offered(learner_file):
    game = Reaching()
    population = Population(3, game.observation_size, game.n_actions, [8])
    save_population(learner_file.parent / "other" / "population.safetensors", population, game)
    (offer,) = (offer for offer in find_offers([learner_file.parent]) if offer.name == "Reaching")
    assert {str(learner_file), f"{learner_file.parent / 'other'}:plastic"} <= set(offer.seats[RESPONSE])


def test_a_learner_plays_a_person_as_it_plays_anyone_and_tells_what_is_likely(learner_file):
    """What is told is what its network says after all that happened, and asking for it changes nothing."""
    offer = find_offers([learner_file])[0]
    told, silent = (begin(None, [PERSON, str(learner_file)], seed=3, offer=offer) for _ in range(2))
    told.tells = True
    told.tell()
    net, nothing = load_learner(learner_file).net, told.game.n_actions
    memory, own, other = net.start(1), nothing, nothing
    for choice in [1, 3, 2, 4, 0, 1]:
        seen = Seen(told.observation[:, RESPONSE], torch.tensor([own]), torch.tensor([other]))
        with torch.no_grad():
            out = net.step(seen, memory)
        assert told.moments[-1].likely[RESPONSE] == pytest.approx(out.logits.softmax(-1)[0].tolist(), abs=1e-3)
        told.advance(choice)
        silent.advance(choice)
        memory, other, own = out.memory, *told.moments[-1].actions
    assert [moment.views for moment in told.moments] == [moment.views for moment in silent.moments]
