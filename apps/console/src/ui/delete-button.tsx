import { type JSX, type ReactNode, useState } from 'react';
import { Button } from './button.js';
import { Confirm } from './confirm.js';

interface DeleteButtonProps {
  /** The thing in a title, such as `the route +44`. */
  readonly what: string;
  readonly act?: string;
  readonly isPending: boolean;
  readonly onDelete: () => void;
  /** The consequence. */
  readonly children: ReactNode;
}

/** A button that deletes after a question. */
export function DeleteButton(props: DeleteButtonProps): JSX.Element {
  const { what, act = 'Delete', isPending, onDelete, children } = props;
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button isDisabled={isPending} onPress={() => setAsked(true)}>
        {act}
        <span className="visually-hidden"> {what}</span>
      </Button>
      {isAsked && (
        <Confirm title={`${act} ${what}?`} act={act} isDangerous onConfirm={onDelete} onClose={() => setAsked(false)}>
          <p className="soft">{children}</p>
        </Confirm>
      )}
    </>
  );
}
