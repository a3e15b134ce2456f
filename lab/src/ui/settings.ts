/**
 * The settings of the page's panels, which stand in the page's address:
 * `?starvation.hogs=4&queue.threads=8#starvation`.
 *
 * A panel makes its controls by its `Settings`. A control begins with the value in the address, if this value is one of
 * its own. When a control changes, the address changes with it, and the page does not load again. The address names
 * only the settings that differ from their defaults. The link to a panel names all settings of the panel, so that the
 * link keeps its meaning when defaults change.
 */
import { type Choice, h, put, select, slider } from './dom.js';

interface Item {
  readonly initial: string;
  read(): string;
}

const asked = new URLSearchParams(location.search);
const items = new Map<string, Item>();
const SAID_MS = 2000;

/** The value of a name in the address that the page was loaded with. */
export function fromAddress(name: string): string | undefined {
  return asked.get(name) ?? undefined;
}

/** Adds a setting to the address. Returns a function to call when the setting has changed. */
export function inAddress(name: string, item: Item): () => void {
  items.set(name, item);
  return write;
}

function write(): void {
  const search = new URLSearchParams();
  for (const [name, { initial, read }] of items) if (read() !== initial) search.set(name, read());
  history.replaceState(null, '', address(search, location.hash));
}

function address(search: URLSearchParams, hash: string): string {
  // Commas and slashes need no escape in a query, and are easier to read without it.
  const query = search.toString().replaceAll('%2C', ',').replaceAll('%2F', '/');
  return `${location.pathname}${query && '?'}${query}${hash}`;
}

export class Settings {
  readonly #panel: string;
  /** The id of the element that the link leads to. */
  readonly #id: string;

  constructor(panel: string, id = panel) {
    this.#panel = panel;
    this.#id = id;
  }

  slider<T>(
    name: string,
    label: string,
    values: readonly T[],
    initial: T,
    show: (value: T) => string,
    changed: (value: T) => void = () => {},
  ): Choice<T> {
    const key = `${this.#panel}.${name}`;
    const found = values.find((value) => String(value) === fromAddress(key));
    const control = slider(label, values, found ?? initial, show, (value) => {
      told();
      changed(value);
    });
    const told = inAddress(key, { initial: String(initial), read: () => String(control.value) });
    return control;
  }

  select<T extends string>(
    name: string,
    label: string,
    options: readonly (readonly [T, string])[],
    changed: (value: T) => void = () => {},
  ): Choice<T> {
    const key = `${this.#panel}.${name}`;
    const control = select(label, options, fromAddress(key), (value) => {
      told();
      changed(value);
    });
    const told = inAddress(key, { initial: options[0]?.[0] ?? '', read: () => control.value });
    return control;
  }

  /** Keeps boxes to tick, several at a time. They stand in the address as a list with commas. */
  ticks(name: string, boxes: ReadonlyMap<string, HTMLInputElement>): void {
    const key = `${this.#panel}.${name}`;
    const read = (): string =>
      [...boxes]
        .filter(([, box]) => box.checked)
        .map(([value]) => value)
        .join();
    const initial = read();
    const listed = fromAddress(key)?.split(',');
    // A list without any known value is a mistake, such as the name of a row that has been renamed. It is ignored.
    if (listed?.some((value) => boxes.has(value)))
      for (const [value, box] of boxes) box.checked = listed.includes(value);
    const told = inAddress(key, { initial, read });
    for (const box of boxes.values()) box.addEventListener('change', told);
  }

  /** Call this when a setting of the panel that has no control has changed. */
  changed(): void {
    write();
  }

  /** The address of the panel with all its settings. */
  get link(): string {
    const search = new URLSearchParams();
    for (const [name, { read }] of items)
      if (name.startsWith(`${this.#panel}.`) && read() !== '') search.set(name, read());
    return new URL(address(search, `#${this.#id}`), location.href).href;
  }

  /** The link to the panel. A click copies it. */
  permalink(text = 'Link to this, as set'): HTMLElement {
    const said = h('span', { class: 'copied', role: 'status' });
    const refresh = (): void => {
      link.href = this.link;
    };
    const link = h(
      'a',
      {
        class: 'permalink',
        // The address is computed just before the link is used, in whichever way.
        onpointerenter: refresh,
        onfocus: refresh,
        onclick: async (event: MouseEvent) => {
          refresh();
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          history.replaceState(null, '', link.href);
          put(said, (await copy(link.href)) ? 'copied' : 'it is in the address bar');
          setTimeout(() => put(said, ''), SAID_MS);
        },
      },
      text,
    );
    queueMicrotask(refresh);
    return h('span', { class: 'share' }, link, said);
  }
}

/** Copies a text. Resolves to whether the browser allows that. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
