/**
 * The theme is light, dark, or that of the system. `?theme=dark` in the address takes precedence over what the reader
 * has chosen.
 */
import { byId, put } from './dom.js';
import { fromAddress, inAddress } from './settings.js';

const KEY = 'taketurns-lab-theme';
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const TEXT: Record<Theme, string> = { system: '◐ system', light: '○ light', dark: '● dark' };

export function theme(): void {
  const button = byId('theme');
  let current = THEMES.find((theme) => theme === fromAddress('theme')) ?? remembered();
  const told = inAddress('theme', { initial: remembered(), read: () => current });
  const show = (): void => {
    if (current === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = current;
    put(button, TEXT[current]);
    button.setAttribute('aria-label', `Theme: ${current}. Press for another.`);
  };
  button.addEventListener('click', () => {
    current = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] as Theme;
    try {
      localStorage.setItem(KEY, current);
    } catch {
      // The browser stores nothing, so the choice lasts as long as the page.
    }
    show();
    told();
  });
  show();
}

function remembered(): Theme {
  try {
    const theme = localStorage.getItem(KEY) as Theme | null;
    return theme !== null && THEMES.includes(theme) ? theme : 'system';
  } catch {
    return 'system';
  }
}
