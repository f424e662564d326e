import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Page } from './pages.js';

/** The time within which the second key of a shortcut follows the first. */
const CHORD_MS = 1_500;

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, dialog, [role="dialog"]') !== null;

/** Ctrl-K or Cmd-K opens the palette; `g` and a letter opens a page. */
export function useShortcuts(pages: readonly Page[], openPalette: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    let chordUntil = 0;
    const onKey = (event: KeyboardEvent): void => {
      const key = event.key.toLowerCase();
      if ((event.ctrlKey || event.metaKey) && key === 'k') {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const page = event.timeStamp < chordUntil ? pages.find((each) => each.key === key) : undefined;
      chordUntil = key === 'g' ? event.timeStamp + CHORD_MS : 0;
      if (page === undefined) return;
      event.preventDefault();
      void navigate({ to: page.to });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, pages, openPalette]);
}
