// Draws what the server sends. No rule of any game is known here.
const SVG = "http://www.w3.org/2000/svg";
const TAGS = new Set(["rect", "circle", "path", "polygon", "text", "g"]);

function element(shape) {
  if (!TAGS.has(shape.tag)) throw new Error(`no shape ${shape.tag}`);
  const made = document.createElementNS(SVG, shape.tag);
  if (shape.kind) made.setAttribute("class", shape.kind);
  for (const [name, value] of Object.entries(shape.at ?? {})) made.setAttribute(name, value);
  if (shape.text) made.textContent = shape.text;
  if (shape.tag === "g") {
    made.style.transform = `translate(${shape.x}px, ${shape.y}px)`;
    for (const part of shape.parts) made.append(element(part));
  }
  return made;
}

export function drawBoard(svg, guide) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", guide.box.join(" "));
  svg.style.aspectRatio = guide.box[2] / guide.box[3];
  const ground = document.createElementNS(SVG, "g");
  ground.append(...guide.board.map(element));
  const pieces = document.createElementNS(SVG, "g");
  pieces.setAttribute("class", "pieces");
  svg.append(ground, pieces);
}

// What has the same key as before is kept and moves, so that the eye can follow it.
export function drawScene(svg, scene, you) {
  const pieces = svg.lastChild;
  const before = new Map([...pieces.children].map((child) => [child.dataset.key, child]));
  const after = scene.map((shape) => {
    const made = element(shape);
    if (shape.key === `seat${you}`) made.append(yours());
    const old = shape.key && before.get(shape.key);
    if (!old) {
      if (shape.key) made.dataset.key = shape.key;
      return made;
    }
    old.replaceChildren(...made.childNodes);
    if (old.style.transform !== made.style.transform) old.style.transform = made.style.transform;
    return old;
  });
  // Moving an element in the document would end its motion: only what changed place in the order is moved.
  for (const child of [...pieces.children]) if (!after.includes(child)) child.remove();
  after.forEach((child, place) => {
    if (pieces.children[place] !== child) pieces.insertBefore(child, pieces.children[place] ?? null);
  });
}

function yours() {
  const group = document.createElementNS(SVG, "g");
  group.setAttribute("class", "you");
  group.append(
    element({ tag: "rect", kind: "you-box", at: { x: -0.24, y: -0.52, width: 0.48, height: 0.22, rx: 0.08 } }),
    element({ tag: "text", kind: "you-text", at: { x: 0, y: -0.405, "font-size": 0.19 }, text: "YOU" }),
  );
  return group;
}

export function sample(shape) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "-0.5 -0.5 1 1");
  svg.setAttribute("aria-hidden", "true");
  svg.append(element(shape));
  return svg;
}

export function bars(box, entries) {
  box.replaceChildren(...entries.flatMap(([name, share]) => {
    const label = document.createElement("span");
    label.textContent = name;
    const bar = document.createElement("div");
    bar.className = "bar";
    bar.setAttribute("role", "meter");
    bar.setAttribute("aria-label", name);
    bar.setAttribute("aria-valuemin", 0);
    bar.setAttribute("aria-valuemax", 1);
    bar.setAttribute("aria-valuenow", share);
    const part = document.createElement("i");
    part.style.width = `${100 * share}%`;
    bar.append(part);
    const number = document.createElement("span");
    number.textContent = `${Math.round(100 * share)} %`;
    return [label, bar, number];
  }));
}
