import { type JSX, type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button.js';
import { FormValues } from './form-values.js';
import { Failure } from './states.js';

interface FormDialogProps {
  readonly title: string;
  /** The name of the act, on its button. */
  readonly act: string;
  readonly lead?: ReactNode;
  /** Shown above the buttons; the form keeps its values. */
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onSubmit: (values: FormValues) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog with a form. Escape and Cancel close it. */
export function FormDialog(props: FormDialogProps): JSX.Element {
  const { title, act, lead, error, isPending, onSubmit, onClose, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: React.SyntheticEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onSubmit(new FormValues(new FormData(event.currentTarget)));
  };
  return (
    <dialog className="dialog form-dialog" ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={titleId}>{title}</h2>
        {lead !== undefined && <p className="soft">{lead}</p>}
        {children}
        {error !== null && <Failure error={error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="solid" isDisabled={isPending}>
            {act}
          </Button>
        </div>
      </form>
    </dialog>
  );
}
