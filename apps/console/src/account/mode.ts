import { useSyncExternalStore } from 'react';

export type Mode = 'test' | 'live';

const KEY = 'countersign-mode';
const listeners = new Set<() => void>();

/** Test mode until somebody chooses live in this browser. */
const read = (): Mode => (localStorage.getItem(KEY) === 'live' ? 'live' : 'test');

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

function choose(mode: Mode): void {
  localStorage.setItem(KEY, mode);
  for (const listener of listeners) listener();
}

/** The mode that this browser works in, in all of its tabs, and the function that chooses one. */
export const useMode = (): readonly [Mode, (mode: Mode) => void] => [useSyncExternalStore(subscribe, read), choose];
