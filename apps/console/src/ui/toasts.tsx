import { createContext, type JSX, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';

const SHOWN_MS = 6_000;

interface Toast {
  readonly id: number;
  readonly tone: 'quiet' | 'bad';
  readonly text: string;
}

type Say = (text: string, tone?: Toast['tone']) => void;

const Context = createContext<Say>(() => undefined);

/** Says the result of an act, to screen readers too. */
export const useSay = (): Say => useContext(Context);

export function Toasts({ children }: { readonly children: ReactNode }): JSX.Element {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const count = useRef(0);
  const say = useCallback<Say>((text, tone = 'quiet') => {
    count.current += 1;
    const toast = { id: count.current, tone, text };
    setToasts((shown) => [...shown.slice(-2), toast]);
    setTimeout(() => setToasts((shown) => shown.filter(({ id }) => id !== toast.id)), SHOWN_MS);
  }, []);
  const list = useMemo(
    () =>
      toasts.map(({ id, tone, text }) => (
        <p className="toast" data-tone={tone} key={id}>
          {text}
        </p>
      )),
    [toasts],
  );
  return (
    <Context value={say}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {list}
      </div>
    </Context>
  );
}
