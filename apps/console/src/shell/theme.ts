import { useState } from 'react';

const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
const KEY = 'countersign-theme';

const isTheme = (value: unknown): value is Theme => (THEMES as readonly unknown[]).includes(value);

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return isTheme(value) ? value : 'auto';
}

/** Applies the theme that this browser has chosen. */
export function applyTheme(theme = stored()): void {
  document.documentElement.dataset['theme'] = theme;
}

/** The theme, and the function that takes the next one: as the system, light, dark. */
export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState(stored);
  const next = (): void => {
    const chosen = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
    localStorage.setItem(KEY, chosen);
    applyTheme(chosen);
    setTheme(chosen);
  };
  return [theme, next];
}
