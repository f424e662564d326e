import { type JSX, useEffect, useId, useRef } from 'react';
import { Button } from './button.js';
import { CopyText } from './texts.js';

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** Shows a secret once. It is in the memory of the page alone, until the dialog is closed. */
export function Secret({ title, secret, onClose }: SecretProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form method="dialog">
        <h2 id={titleId}>{title}</h2>
        <p className="soft">It is shown once. Copy it now and keep it in a safe place.</p>
        <CopyText text={secret} name="the secret" />
        <div className="dialog-actions">
          <Button type="submit" kind="solid">
            Done
          </Button>
        </div>
      </form>
    </dialog>
  );
}
