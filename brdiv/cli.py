"""The command `brdiv`. Each command imports what it needs when it is called, so that help is instant."""

import argparse
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from brdiv.version import __version__

HELP = """\
usage: brdiv <command> [options]

Generate teammates worth training against: populations for ad hoc teamwork by Best-Response Diversity.

commands:
  fit      train a population                          brdiv fit --config configs/reaching.yaml
  show     describe a population file and play it      brdiv show runs/reaching-brdiv-seed0/population.safetensors
  render   watch a population play                     brdiv render runs/.../population.safetensors --out play.gif
  seeds    train one config with many seeds and        brdiv seeds --config configs/reaching.yaml --seeds 0-9
           print a table of how often it works
  compare  train several methods with several seeds    brdiv compare --config configs/reaching.yaml --methods base lipo
           and print a table of their populations
  evaluate let learners prepared with a population     brdiv evaluate runs/seeds-reaching --teammates heuristics
           play with strangers
  play     two saved agents play each other            brdiv play H3 runs/.../population.safetensors:1
  bench    measure how fast training, or games, are    brdiv bench --config configs/lbf.yaml

options:
  -h, --help     this text; `brdiv <command> --help` lists the options of a command
  --version      print the version
"""


class OneLineParser(argparse.ArgumentParser):
    """Answers a mistake with one line and exit code 2, and takes no abbreviated options."""

    def __init__(self, command: str, description: str) -> None:
        super().__init__(
            prog=f"brdiv {command}",
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        """Leave out the usage."""
        fail(message)


def fail(message: object) -> NoReturn:
    """Say what is wrong in one line and stop."""
    print(f"brdiv: error: {message}", file=sys.stderr)
    sys.exit(2)


def add_allow_imports(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets a population file name a module to import."""
    parser.add_argument(
        "--allow-imports", action="store_true", help="import the environment that a trusted population file names"
    )


def check_output(path: Path | None, endings: set[str]) -> None:
    """Refuse a file that could not be written, before any work is done for it."""
    if path is None:
        return
    if path.suffix not in endings:
        fail(f"{path} ends in none of {', '.join(sorted(endings))}")
    if not path.parent.is_dir():
        fail(f"{path}: there is no folder {path.parent}")


def fit(arguments: list[str]) -> None:
    """`brdiv fit`."""
    from brdiv.training_cli import fit

    fit(arguments)


def show(arguments: list[str]) -> None:
    """`brdiv show`."""
    parser = OneLineParser("show", "Describe a population file, and measure its cross-play matrix by playing.")
    parser.add_argument("file", type=Path, help="population file")
    parser.add_argument("--episodes", type=int, default=256, help="episodes of each pair; 0 only describes")
    parser.add_argument("--seed", type=int, default=0, help="seed of the episodes")
    add_allow_imports(parser)
    parser.add_argument("--picture", type=Path, help="write the matrix as a picture (PNG, PDF or SVG)")
    options = parser.parse_args(arguments)
    if options.episodes < 0:
        fail(f"episodes is {options.episodes}: it may not be negative")
    if options.picture and not options.episodes:
        fail("a picture needs episodes; give --episodes at least 1")
    check_output(options.picture, {".png", ".pdf", ".svg"})

    import torch

    from brdiv.play import cross_play
    from brdiv.plots import cross_play_heatmap
    from brdiv.populations import PopulationFileError, load_population
    from brdiv.tables import print_about, print_cross_play

    try:
        population, game, about = load_population(options.file, options.allow_imports)
    except (FileNotFoundError, PopulationFileError) as error:
        fail(error)
    print_about(about)
    if options.episodes:
        generator = torch.Generator().manual_seed(options.seed)
        matrix = cross_play(game, population, population.n_types, options.episodes, generator).returns.mean(-1)
        print_cross_play(matrix)
        if options.picture:
            cross_play_heatmap(matrix, type(game).__name__).savefig(options.picture, dpi=150)
            print(f"picture {options.picture}")


def seeds(arguments: list[str]) -> None:
    """`brdiv seeds`."""
    parser = OneLineParser(
        "seeds",
        "Train one config with many seeds and print a table of the populations. Options that are not listed here go to "
        "`brdiv fit`. Seeds that are already done are not trained again.",
    )
    parser.add_argument("--config", action="append", required=True, help="config file; may be repeated")
    options, rest = parse_training(parser, arguments, "0-9", "runs/seeds-<config>")

    from brdiv.configs import find_config
    from brdiv.seeds import parse_seeds, train_seeds
    from brdiv.tables import print_seeds

    try:
        configs = [find_config(name) for name in options.config]
        numbers = parse_seeds(options.seeds)
        folder = options.folder or Path("runs", "seeds-" + "-".join(config.stem for config in configs))
        passed_on = [part for config in configs for part in ("--config", str(config))] + rest
        print(f"training {len(numbers)} seeds, {options.jobs} at a time; logs are in {folder}")
        print_seeds(train_seeds(numbers, folder, passed_on, options.jobs))
    except (FileNotFoundError, ValueError, RuntimeError) as error:
        fail(error)


def compare(arguments: list[str]) -> None:
    """`brdiv compare`."""
    from brdiv.configs import find_config, shipped_configs

    shipped = [name.removeprefix("methods/") for name in shipped_configs() if name.startswith("methods/")]
    parser = OneLineParser(
        "compare",
        "Train several methods on one game with several seeds each, and print a table of the populations. Options that "
        "are not listed here go to `brdiv fit`. Runs that are already done are not trained again.",
    )
    parser.add_argument("--config", required=True, help="config file of the game")
    parser.add_argument(
        "--methods",
        nargs="+",
        default=["base", "independent"],
        metavar="METHOD",
        help=f"`base` for the config as it stands, names of shipped methods ({', '.join(shipped)}), or config files",
    )
    options, rest = parse_training(parser, arguments, "0-2", "runs/compare-<config>")

    from brdiv.seeds import parse_seeds, train_methods
    from brdiv.tables import print_methods

    try:
        base = find_config(options.config)
        methods: dict[str, list[str]] = {}
        for name in options.methods:
            overlay = (
                [] if name == "base" else ["--config", str(find_config(f"methods/{name}" if name in shipped else name))]
            )
            key = name if name == "base" else Path(name).stem
            if key in methods:
                fail(f"methods: two of them are called {key}")
            methods[key] = ["--config", str(base), *overlay, *rest]
        numbers = parse_seeds(options.seeds)
        folder = options.folder or Path("runs", f"compare-{base.stem}")
        print(f"training {len(methods) * len(numbers)} runs, {options.jobs} at a time; logs are in {folder}")
        print_methods(train_methods(methods, numbers, folder, options.jobs), folder)
    except (FileNotFoundError, ValueError, RuntimeError) as error:
        fail(error)


def parse_training(
    parser: argparse.ArgumentParser, arguments: list[str], seeds: str, folder: str
) -> tuple[argparse.Namespace, list[str]]:
    """Add the options of commands that train many runs; parse, and refuse what is set for each run."""
    parser.add_argument("--seeds", default=seeds, help="numbers and ranges, as in 0-9 or 1,4,7")
    parser.add_argument("--jobs", type=int, default=2, help="how many to train at a time, on one thread each")
    parser.add_argument("--folder", type=Path, help=f"where runs go (default: {folder})")
    options, rest = parser.parse_known_args(arguments)
    for taken in ("--seed_everything", "--run", "--threads"):
        if any(part.split("=")[0] == taken for part in rest):
            fail(f"{taken} is set for each seed by this command")
    if options.jobs < 1:
        fail(f"jobs is {options.jobs}: at least one is needed")
    return options, rest


def evaluate(arguments: list[str]) -> None:
    """`brdiv evaluate`."""
    parser = OneLineParser(
        "evaluate",
        "Let learners prepared with generated teammates (PLASTIC Policy) play with strangers. Runs of one method are "
        "its seeds: intervals are over them.",
    )
    parser.add_argument("runs", nargs="+", type=Path, help="population files, run folders, or folders of runs")
    parser.add_argument(
        "--teammates", nargs="+", default=["heuristics"], help="`heuristics`, or runs whose teammates are the strangers"
    )
    parser.add_argument("--episodes", type=int, default=64, help="complete episodes of each pair")
    parser.add_argument("--gamma", type=float, default=0.99, help="discount of the robustness measure")
    parser.add_argument("--seed", type=int, default=0, help="seed of the episodes")
    parser.add_argument("--threads", type=int, default=2, help="threads that torch may use")
    add_allow_imports(parser)
    parser.add_argument("--out", type=Path, help="folder for tables and figures (default: evaluation-<number>)")
    options = parser.parse_args(arguments)
    for name, least in (("episodes", 1), ("threads", 1)):
        if getattr(options, name) < least:
            fail(f"{name} is {getattr(options, name)}: it must be at least {least}")
    if not 0 < options.gamma <= 1:
        fail(f"gamma is {options.gamma:g}: it must lie above 0, and be at most 1")
    if options.out is not None and options.out.exists() and not options.out.is_dir():
        fail(f"{options.out} is not a folder")

    import torch

    from brdiv.evaluation import EvaluationError, among, evaluate, load_runs
    from brdiv.populations import PopulationFileError
    from brdiv.report import write
    from brdiv.tables import print_evaluation

    torch.set_num_threads(options.threads)
    try:
        generated = [] if options.teammates == ["heuristics"] else [Path(name) for name in options.teammates]
        everyone = load_runs([*options.runs, *generated], options.allow_imports)
        runs = among(everyone, options.runs)
        strangers = among(everyone, generated) if generated else None
        evaluation = evaluate(runs, strangers, options.episodes, options.seed, options.gamma)
    except (FileNotFoundError, PopulationFileError, EvaluationError) as error:
        fail(error)
    out = options.out or next(
        folder for number in itertools.count(1) if not (folder := Path(f"evaluation-{number}")).exists()
    )
    summary = evaluation.summary()
    write(evaluation, summary, out)
    print_evaluation(evaluation, summary)
    print(f"every cell  {out}/cells.csv, {out}/evaluation.json")
    print(f"figures     {out}/heatmap.png, .pdf, recognition.png")


def play(arguments: list[str]) -> None:
    """`brdiv play`."""
    parser = OneLineParser(
        "play",
        "Let two agents play each other. An agent is FILE:K, teammate or best response K of a population file, counted "
        "from 1; FILE:plastic, the learner prepared with all of them; or a heuristic's name, as H3.",
    )
    parser.add_argument("first", help="who sits in the teammate's seat")
    parser.add_argument("second", help="who sits in the best response's seat")
    parser.add_argument("--game", help="name of the game, where both are heuristics")
    parser.add_argument("--episodes", type=int, default=256, help="complete episodes")
    parser.add_argument("--seed", type=int, default=0, help="seed of the episodes")
    add_allow_imports(parser)
    parser.add_argument("--gif", type=Path, help="write the first episode as an animation")
    options = parser.parse_args(arguments)
    if options.episodes < 1:
        fail(f"episodes is {options.episodes}: play at least one")
    check_output(options.gif, {".gif"})

    from brdiv.duel import DuelError, duel, film, find_agents
    from brdiv.populations import PopulationFileError

    try:
        agents = find_agents(options.first, options.second, options.game, options.allow_imports)
        print(duel(*agents, options.episodes, options.seed))
        if options.gif:
            print(f"{film(*agents, options.gif, options.seed)} frames in {options.gif}")
    except (FileNotFoundError, PopulationFileError, DuelError) as error:
        fail(error)


def render(arguments: list[str]) -> None:
    """`brdiv render`."""
    parser = OneLineParser("render", "Play episodes and look at them: frames in the terminal, or a GIF or PNG file.")
    parser.add_argument("what", help="population file, or the name of a game to see random play")
    parser.add_argument("--pair", type=int, nargs=2, default=[1, 1], help="teammate and best response, counted from 1")
    parser.add_argument("--episodes", type=int, default=1, help="how many episodes to play")
    parser.add_argument("--out", type=Path, help="a .gif to animate, a .png for a strip of pictures (default: print)")
    parser.add_argument("--fps", type=float, default=3.0, help="steps a second in a GIF")
    parser.add_argument("--seed", type=int, default=0, help="seed of the episodes")
    options = parser.parse_args(arguments)
    if options.episodes < 1:
        fail(f"episodes is {options.episodes}: play at least one")
    if not 0 < options.fps <= 100:
        fail(f"fps is {options.fps:g}: it must be positive, and at most 100")
    check_output(options.out, {".gif", ".png"})

    import torch

    from brdiv.render import RenderError, choose, print_frames, record, save_gif, save_strip

    try:
        game, actor, pair, title = choose(options.what, options.pair)
    except RenderError as error:
        fail(error)
    generator, ids = torch.Generator().manual_seed(options.seed), torch.tensor([pair])
    frames = record(game, lambda: lambda _, seen: actor.act(seen, ids, generator), options.episodes, generator)
    if options.out is None:
        print_frames(game, frames)
    elif options.out.suffix == ".gif":
        save_gif(options.out, game, frames, title, options.fps)
    else:
        save_strip(options.out, game, frames, title)
    if options.out:
        print(f"{len(frames)} frames in {options.out}")


def bench(arguments: list[str]) -> None:
    """`brdiv bench`."""
    parser = OneLineParser(
        "bench",
        "Measure how fast training is: `brdiv fit` with a config against the mathematics of its networks alone. "
        "Options that are not listed here go to `brdiv fit`. Without a config: how fast games step with random play.",
    )
    parser.add_argument("--config", action="append", help="config file; may be repeated")
    parser.add_argument("--updates", type=int, default=200, help="updates to time in each repeat, in stretches of 20")
    parser.add_argument("--repeats", type=int, default=3, help="repeats, of which the best counts")
    parser.add_argument("--rows", type=int, default=4096, help="without a config: rows stepped at once")
    parser.add_argument("--scaling", type=Path, metavar="FOLDER", help="vary rows, K and threads, 20 updates each")
    parser.add_argument("--threads", type=int, default=2, help="threads that torch may use")
    options, rest = parser.parse_known_args(arguments)
    for name in ("updates", "repeats", "rows", "threads"):
        if getattr(options, name) < 1:
            fail(f"{name} is {getattr(options, name)}: it must be at least 1")
    if options.config:
        from brdiv.fit_bench import bench_training, print_bench

        passed_on = [part for config in options.config for part in ("--config", config)] + rest
        if options.scaling:
            from brdiv.scaling import run_scaling

            try:
                run_scaling(passed_on, options.scaling)
            except RuntimeError as error:
                fail(str(error))
            return
        passed_on += ["--threads", str(options.threads)]
        print_bench(bench_training(passed_on, options.updates, options.repeats))
        return
    if rest:
        fail(f"unrecognized arguments: {' '.join(rest)}")
    if options.scaling:
        fail("scaling needs a config")

    import torch

    from brdiv.bench import stepping_speed
    from brdiv.envs import LBF, Cooking, Reaching

    torch.set_num_threads(options.threads)
    print(f"{options.rows} rows, {options.threads} threads, best of 5; environment steps per second")
    print(f"{'game':10} {'rules alone':>12} {'TorchRL environment':>20}")
    for game in (Reaching(), LBF(), Cooking()):
        speed = stepping_speed(game, options.rows)
        print(f"{type(game).__name__:10} {speed.rules:>12,.0f} {speed.environment:>20,.0f}")


COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "fit": fit,
    "show": show,
    "render": render,
    "seeds": seeds,
    "compare": compare,
    "evaluate": evaluate,
    "play": play,
    "bench": bench,
}


def main(arguments: list[str] | None = None) -> None:
    """Run the command named by the first argument."""
    command, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if command in {"-h", "--help"}:
        print(HELP, end="")
    elif command == "--version":
        print(f"brdiv {__version__}")
    elif command in COMMANDS:
        try:
            COMMANDS[command](rest)
        except BrokenPipeError:  # the reader, `head` say, has seen enough
            sys.stderr.close()
        except KeyboardInterrupt:
            sys.exit(130)
    else:
        fail(f"no command {command!r}; see brdiv --help")
