import { type JSX, type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button.js';

interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  /** The name of the act, on its button. */
  readonly act: string;
  readonly isDangerous?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before an act. Escape and Cancel close it. */
export function Confirm({ title, children, act, isDangerous = false, onConfirm, onClose }: ConfirmProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const confirm = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    onConfirm();
    onClose();
  };
  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form onSubmit={confirm}>
        <h2 id={titleId}>{title}</h2>
        {children}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind={isDangerous ? 'danger' : 'solid'}>
            {act}
          </Button>
        </div>
      </form>
    </dialog>
  );
}
