// What a person sees and does. Every step is asked of the server; here is only what was answered.
import { bars, drawBoard, drawScene, sample } from "./board.js";

const by = (id) => document.getElementById(id);
const NAMES = ["Circle", "Square"];
const ARROWS = { ArrowUp: "up", ArrowLeft: "left", ArrowRight: "right", ArrowDown: "down", " ": "middle" };
const KEYS = { " ": "space", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", ArrowDown: "↓" };

let offer;           // what there is to play
let game;            // the one that is shown
let match = null;    // name, seats, moments, end: what is being played
let shown = 0;       // which moment is looked at
let waiting = false; // for an answer
let chosen = null;   // an action for the next tick of the clock
let timer = null;
let paused = false;

async function ask(name, message) {
  const options = message === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(message),
  };
  let response;
  try {
    response = await fetch(`/api/${name}`, options);
  } catch {
    throw Object.assign(new Error("The server doesn't answer: is `brdiv serve` still running?"), { status: 0 });
  }
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

function notice(text) {
  by("notice").textContent = text;
  by("notice").hidden = !text;
}

// ---- setting up -------------------------------------------------------------------------------------------------

const you = () => Number(document.querySelector("input[name=you]:checked").value);

function option(value, text) {
  const made = document.createElement("option");
  made.value = value;
  made.textContent = text;
  return made;
}

function fillAgents() {
  for (const seat of [0, 1]) {
    const select = by(`agent${seat}`);
    const kept = select.value;
    const groups = new Map();
    for (const agent of game.seats[seat]) {
      const cut = agent.id.lastIndexOf(":");
      const label = cut < 0 ? "scripted" : agent.id.slice(0, cut);
      if (!groups.has(label)) groups.set(label, Object.assign(document.createElement("optgroup"), { label }));
      groups.get(label).append(option(agent.id, agent.name));
    }
    select.replaceChildren(...groups.values());
    const first = game.seats[seat].find((agent) => agent.id !== "random") ?? game.seats[seat][0];
    select.value = game.seats[seat].some((agent) => agent.id === kept) ? kept : first.id;
  }
}

function fitSetup() {
  for (const seat of [0, 1]) by(`label${seat}`).hidden = you() === seat;
}

function chooseGame(name) {
  game = offer.games.find((one) => one.name === name) ?? offer.games[0];
  by("game").value = game.name;
  const guide = game.guide;
  by("title").textContent = guide.title;
  by("game-title").textContent = "How it goes";
  by("sentences").replaceChildren(...guide.rules.map((sentence) => item(sentence)));
  by("legend").replaceChildren(
    ...NAMES.map((who, seat) => legend(seatShape(seat), seat ? "Square, the best response's seat" : "Circle, the teammate's seat")),
    ...guide.legend.map(([shape, meaning]) => legend(shape, meaning)));
  by("horizon").textContent = game.horizon;
  drawBoard(by("board"), guide);
  by("believes").disabled = !Object.keys(game.populations).length;
  fillAgents();
  fillPad();
  fillPopulations();
}

function seatShape(seat) {
  return seat ? { tag: "rect", kind: "seat1", at: { x: -0.32, y: -0.32, width: 0.64, height: 0.64, rx: 0.08 } }
    : { tag: "circle", kind: "seat0", at: { cx: 0, cy: 0, r: 0.36 } };
}

function item(text) {
  return Object.assign(document.createElement("li"), { textContent: text });
}

function legend(shape, meaning) {
  const made = item(meaning);
  made.prepend(sample(shape));
  return made;
}

function fillPad() {
  const rest = document.createElement("div");
  const cross = document.createElement("div");
  cross.className = "cross";
  rest.className = "rest";
  game.guide.actions.forEach((action, number) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.action = number;
    button.setAttribute("aria-label", action.name);
    button.append(Object.assign(document.createElement("span"), { textContent: action.symbol, className: "symbol" }));
    const key = action.keys[0];
    if (key) button.append(Object.assign(document.createElement("kbd"), { textContent: KEYS[key] ?? key.toUpperCase() }));
    button.addEventListener("click", (event) => {
      if (event.detail) button.blur(); // so that the next key is the game's
      choose(number);
    });
    const place = ARROWS[key];
    if (place) button.style.gridArea = place;
    (place ? cross : rest).append(button);
  });
  by("pad").replaceChildren(...[cross, rest].filter((box) => box.children.length));
}

// ---- playing ----------------------------------------------------------------------------------------------------

const person = () => match ? match.seats.indexOf(offer.person) : -1;
const last = () => match.moments.length - 1;
const pace = () => Number(by("pace").value);

async function begin(seats, follows = match?.match) {
  notice("");
  const message = { game: game.name, seats, keep: by("keep").checked, tells: by("tells").checked };
  if (follows) message.follows = follows;
  try {
    take(await ask("begin", message));
  } catch (error) { notice(error.message); return; }
  paused = false;
  settle();
  document.body.classList.remove("choosing");
  if (by("status").getBoundingClientRect().top < 0 || innerWidth < 900) by("stage").scrollIntoView({ behavior: "instant" });
}

function take(answer) {
  const moments = answer.first ? match.moments.slice(0, answer.first) : [];
  match = { ...answer, moments: [...moments, ...answer.moments] };
  sessionStorage.setItem("match", match.match);
  shown = last();
  draw();
}

function choose(action) {
  if (!match || person() < 0 || match.end) return;
  if (shown !== last()) { shown = last(); draw(); return; }
  if (pace()) { chosen = action; mark(); } else advance(action);
}

async function advance(action) {
  if (!match || waiting || match.end) return;
  waiting = true;
  const message = { match: match.match, step: match.step, tells: by("tells").checked };
  if (action !== undefined) message.action = action;
  try {
    take(await ask("act", message));
    notice("");
  } catch (error) {
    await recover(error);
  } finally {
    waiting = false;
    chosen = null;
    mark();
  }
}

async function recover(error) {
  if (error.status === 404) forget(error.message);
  else if (error.status === 409) await resume(match.match);
  else { notice(error.message); paused = true; settle(); }
}

function forget(reason) {
  match = null;
  sessionStorage.removeItem("match");
  notice(reason);
  settle();
  draw();
}

async function resume(name) {
  try {
    const answer = await ask("see", { match: name, tells: by("tells").checked });
    if (answer.game !== game.name) chooseGame(answer.game);
    take(answer);
  } catch (error) {
    if (error.status === 404) forget(error.message); else notice(error.message);
  }
}

function settle() {
  clearTimeout(timer);
  timer = null;
  const watching = match && person() < 0;
  by("pause").hidden = !(watching || pace());
  by("pause").textContent = paused ? "play" : "pause";
  document.body.classList.toggle("watching", Boolean(watching));
  document.body.classList.toggle("playing", Boolean(match));
  by("clock").hidden = !(match && pace() && !paused && !match.end);
  const wait = pace() || (watching ? 700 : 0);
  if (match && wait && !paused && !match.end) tick(wait);
}

function tick(wait) {
  const hand = by("hand");
  hand.style.animation = "none";
  void hand.offsetWidth;
  hand.style.animation = `run ${wait}ms linear`;
  timer = setTimeout(async () => {
    await advance(person() < 0 ? undefined : chosen ?? 0);
    settle();
  }, wait);
}

// ---- drawing ----------------------------------------------------------------------------------------------------

function mark() {
  for (const button of by("pad").querySelectorAll("button")) {
    button.classList.toggle("chosen", Number(button.dataset.action) === chosen);
  }
}

function draw() {
  if (!match) {
    by("status").textContent = "Choose who plays, then press Start.";
    by("news").textContent = "";
    by("history").replaceChildren();
    by("belief").hidden = by("likely").hidden = true;
    drawScene(by("board"), game.preview, you());
    return;
  }
  const moment = match.moments[shown];
  drawScene(by("board"), moment.scene, person());
  by("step").textContent = moment.step;
  by("total").textContent = number(moment.total);
  by("status").textContent = status();
  const paid = moment.reward > 0 ? `+${number(moment.reward)} ` : "";
  by("news").textContent = paid + moment.news;
  by("news").classList.toggle("paid", moment.reward > 0);
  by("back").disabled = shown === 0;
  by("on").disabled = shown === last() && (person() >= 0 || Boolean(match.end));
  by("now").hidden = shown === last();
  by("pad").hidden = person() < 0 || Boolean(match.end);
  document.body.classList.toggle("over", Boolean(match.end));
  drawHistory();
  drawThoughts(moment);
}

const number = (value) => String(Math.round(100 * value) / 100);

function status() {
  if (shown !== last()) return `Looking back at step ${shown} of ${last()}.`;
  const total = number(match.moments[last()].total);
  if (match.end) return `${match.end === "won" ? "Won" : "The time is up"}: ${total} paid in ${match.step} steps.`;
  if (person() < 0) return `${who(0)} plays with ${who(1)}.`;
  const turn = pace() ? "Choose before the bar is full" : "Your move";
  return `${turn}: you are the ${NAMES[person()].toLowerCase()}, and play with ${who(1 - person())}.`;
}

function who(seat) {
  const found = game.seats[seat].find((agent) => agent.id === match.seats[seat]);
  return found ? found.name : "you";
}

function drawHistory() {
  const list = by("history");
  while (list.children.length > match.moments.length - 1) list.firstChild.remove();
  if (list.dataset.match !== match.match) { list.replaceChildren(); list.dataset.match = match.match; }
  for (let at = list.children.length + 1; at < match.moments.length; at++) list.prepend(historyItem(at));
  [...list.children].forEach((child) => child.classList.toggle("shown", Number(child.dataset.step) === shown));
}

function historyItem(at) {
  const moment = match.moments[at];
  const did = moment.actions.map((action, seat) => `${NAMES[seat]} ${game.guide.actions[action].name}`).join(", ");
  const button = Object.assign(document.createElement("button"), { type: "button" });
  button.append(Object.assign(document.createElement("b"), { textContent: at }), ` ${did}. `);
  if (moment.reward > 0) button.append(Object.assign(document.createElement("mark"), { textContent: `+${number(moment.reward)}` }), ` ${moment.news}`);
  button.addEventListener("click", () => look(at));
  const made = document.createElement("li");
  made.dataset.step = at;
  made.append(button);
  return made;
}

function drawThoughts(moment) {
  const believes = by("believes").checked && moment.belief;
  by("belief").hidden = !believes;
  if (believes) bars(by("belief-bars"), moment.belief.map((share, type) => [`type ${type + 1}`, share]));
  const likely = by("tells").checked && moment.likely?.some(Boolean);
  by("likely").hidden = !likely;
  if (!likely) return;
  by("likely-bars").replaceChildren(...moment.likely.flatMap((shares, seat) => {
    if (!shares) return [];
    const head = Object.assign(document.createElement("h3"), { textContent: `${NAMES[seat]}: ${who(seat)}` });
    const box = Object.assign(document.createElement("div"), { className: "bars" });
    bars(box, shares.map((share, action) => [game.guide.actions[action].name, share]));
    return [head, box];
  }));
}

function look(at) {
  if (!match) return;
  shown = Math.max(0, Math.min(last(), at));
  if (shown !== last()) paused = true;
  settle();
  draw();
}

// ---- the matrix -------------------------------------------------------------------------------------------------

function fillPopulations() {
  const labels = Object.keys(game.populations);
  by("matrix").hidden = !labels.length;
  by("population").replaceChildren(...labels.map((label) => option(label, label)));
  by("cells").replaceChildren();
  if (labels.length) showMatrix();
}

async function showMatrix() {
  const label = by("population").value;
  const asked = game;
  by("cells").textContent = "measuring …";
  let answer;
  try { answer = await ask("matrix", { game: game.name, population: label }); } catch (error) { by("cells").textContent = error.message; return; }
  if (asked !== game || label !== by("population").value) return;
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  head.append(document.createElement("th"), ...answer.returns.map((_, k) => Object.assign(document.createElement("th"), { textContent: `BR ${k + 1}` })));
  const body = table.createTBody();
  answer.returns.forEach((row, i) => {
    const line = body.insertRow();
    line.append(Object.assign(document.createElement("th"), { textContent: `T ${i + 1}` }));
    row.forEach((value, j) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: value.toFixed(2) });
      button.style.setProperty("--share", Math.min(1, Math.max(0, value)));
      button.classList.toggle("high", value > 0.5);
      button.title = `watch teammate ${i + 1} with best response ${j + 1}`;
      button.addEventListener("click", () => watchPair(`${label}:${i + 1}`, `${label}:${j + 1}`));
      line.insertCell().append(button);
    });
  });
  by("cells").replaceChildren(table);
}

function watchPair(first, second) {
  document.querySelector("input[name=you][value='-1']").checked = true;
  by("agent0").value = first;
  by("agent1").value = second;
  fitSetup();
  begin([first, second]);
}

// ---- what people do ---------------------------------------------------------------------------------------------

function seatsChosen() {
  return [0, 1].map((seat) => you() === seat ? offer.person : by(`agent${seat}`).value);
}

by("setup").addEventListener("submit", (event) => {
  event.preventDefault();
  document.activeElement?.blur();
  begin(seatsChosen());
});
by("game").addEventListener("change", () => { if (match) ask("end", { match: match.match }).catch(() => {}); match = null; chooseGame(by("game").value); forget(""); });
// The next key is the game's, not that of what was just clicked.
document.querySelectorAll("input").forEach((input) => input.addEventListener("click", (event) => { if (event.detail) input.blur(); }));
document.querySelectorAll("input[name=you]").forEach((radio) => radio.addEventListener("change", () => { fitSetup(); if (!match) draw(); }));
by("pace").addEventListener("change", () => { settle(); if (match) draw(); by("pace").blur(); });
by("believes").addEventListener("change", () => { if (match) draw(); });
by("tells").addEventListener("change", () => { if (match) resume(match.match); });
by("keep").addEventListener("change", () => { if (match) ask("agree", { match: match.match, keep: by("keep").checked }).catch((error) => notice(error.message)); });
by("population").addEventListener("change", showMatrix);
by("back").addEventListener("click", () => look(shown - 1));
by("on").addEventListener("click", () => { if (shown < last()) look(shown + 1); else { paused = true; settle(); advance(); } });
by("now").addEventListener("click", () => look(last()));
by("again").addEventListener("click", () => begin(match ? match.seats : seatsChosen()));
by("change").addEventListener("click", () => { document.body.classList.add("choosing"); by("game").focus(); });
by("pause").addEventListener("click", () => { paused = !paused; if (!paused && match) { shown = last(); draw(); } settle(); });

document.addEventListener("keydown", (event) => {
  if (!match || person() < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const focus = document.activeElement?.tagName;
  if (focus === "SELECT" || focus === "INPUT" || (focus === "BUTTON" && (event.key === "Enter" || event.key === " "))) return;
  const found = game.guide.actions.findIndex((action) => action.keys.includes(event.key.length === 1 ? event.key.toLowerCase() : event.key));
  if (found < 0) return;
  event.preventDefault();
  if (!event.repeat || pace()) choose(found);
});

// Where there was a game before the page was loaded anew, it goes on; choices are kept, too.
function remember() {
  const choices = { pace: by("pace").value, believes: by("believes").checked, tells: by("tells").checked, keep: by("keep").checked };
  sessionStorage.setItem("choices", JSON.stringify(choices));
}

function recall() {
  const choices = JSON.parse(sessionStorage.getItem("choices") ?? "{}");
  if (choices.pace) by("pace").value = choices.pace;
  for (const name of ["believes", "tells", "keep"]) if (name in choices) by(name).checked = choices[name];
}

async function load() {
  try { offer = await ask("offer"); } catch (error) { notice(error.message); return; }
  by("game").replaceChildren(...offer.games.map((one) => option(one.name, one.guide.title)));
  by("keeps").hidden = !offer.keeps;
  recall();
  by("setup").addEventListener("change", remember);
  chooseGame(offer.games[0].name);
  fitSetup();
  draw();
  const name = sessionStorage.getItem("match");
  if (name) {
    await resume(name);
    if (match) {
      const seat = person();
      document.querySelector(`input[name=you][value='${seat}']`).checked = true;
      for (const other of [0, 1]) if (other !== seat) by(`agent${other}`).value = match.seats[other];
      fitSetup();
      paused = true;
    }
  }
  settle();
}

load();
