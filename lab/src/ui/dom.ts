/** A few functions that make elements, in place of a framework. */

type Child = Node | string | number | undefined | false;
type Properties = Record<string, unknown>;

/** Makes an element. `on...` are listeners; `class`, `data-...` and `aria-...` are attributes, the rest properties. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: (Child | readonly Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === 'style') element.style.cssText = String(value);
    else if (name in element && !name.includes('-')) Object.assign(element, { [name]: value });
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat().filter(isNode));
  return element;
}

function isNode(child: Child): child is Node | string {
  return child !== undefined && child !== false && child !== '';
}

/** Sets the text of an element if it changes, since writing even the same text costs layout. */
export function put(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Returns the page's element with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

export interface Choice<T> {
  readonly element: HTMLElement;
  readonly value: T;
  /** Whether the user cannot change the value, as while an experiment runs. */
  disabled: boolean;
}

/** Makes a slider over a list of values, with its label and present value. */
export function slider<T>(
  label: string,
  values: readonly T[],
  initial: T,
  show: (value: T) => string,
  changed: (value: T) => void = () => {},
): Choice<T> {
  const output = h('output');
  const input = h('input', {
    type: 'range',
    min: '0',
    max: String(values.length - 1),
    step: '1',
    'aria-label': label,
    oninput: () => {
      told();
      changed(current());
    },
  });
  input.value = String(values.indexOf(initial));
  const current = (): T => values[Number(input.value)] as T;
  const told = (): void => {
    put(output, show(current()));
    input.setAttribute('aria-valuetext', show(current()));
  };
  told();
  const element = h('label', { class: 'control' }, h('span', {}, label, ' ', output), input);
  return {
    element,
    get value() {
      return current();
    },
    get disabled() {
      return input.disabled;
    },
    set disabled(value) {
      input.disabled = value;
    },
  };
}

/** Makes a list to choose from. It begins with the option `initial`, or with the first option if `initial` is none. */
export function select<T extends string>(
  label: string,
  options: readonly (readonly [T, string])[],
  initial: string | undefined,
  changed: (value: T) => void = () => {},
): Choice<T> {
  const list = h(
    'select',
    { onchange: () => changed(list.value as T) },
    options.map(([value, text]) => h('option', { value }, text)),
  );
  if (options.some(([value]) => value === initial)) list.value = initial as T;
  return {
    element: h('label', { class: 'control' }, h('span', {}, label), list),
    get value() {
      return list.value as T;
    },
    get disabled() {
      return list.disabled;
    },
    set disabled(value) {
      list.disabled = value;
    },
  };
}

export function button(text: string, click: () => void, kind = ''): HTMLButtonElement {
  return h('button', { type: 'button', class: kind, onclick: click }, text);
}

/** Offers a text as a file. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
