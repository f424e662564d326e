import { type JSX, useEffect, useId, useRef } from 'react';
import { keyOf, useScope } from '../account/scope.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { TextField } from '../ui/filters.js';
import { Failure } from '../ui/states.js';
import { type Key, makeKey, type Scope, SCOPES } from './key-queries.js';

interface NewKeyProps {
  readonly onMade: (key: Key) => void;
  readonly onClose: () => void;
}

const isScope = (value: unknown): value is Scope => SCOPES.some(([scope]) => scope === value);

/** A form for a key of the present mode. */
export function NewKey({ onMade, onClose }: NewKeyProps): JSX.Element {
  const scope = useScope();
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const { mutate, error, isPending } = useAct({
    run: (draft: { readonly name: string; readonly scopes: Scope[] }) => makeKey(scope, draft),
    done: (key) => {
      onMade(key);
      return `The key ${key.name} was made.`;
    },
    changes: keyOf(scope, 'keys'),
  });
  const submit = (event: React.SyntheticEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const name = form.get('name');
    mutate({ name: typeof name === 'string' ? name.trim() : '', scopes: form.getAll('scopes').filter(isScope) });
  };
  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={titleId}>Make a {scope.mode} key</h2>
        <TextField
          name="name"
          label="Name, such as that of the server that uses it"
          value={undefined}
          placeholder="backend"
        />
        <fieldset className="choices">
          <legend>Scopes: what it may do</legend>
          {SCOPES.map(([each, what]) => (
            <label className="choice" key={each}>
              <input type="checkbox" name="scopes" value={each} defaultChecked={each !== 'account'} />
              <span>
                <code>{each}</code> {what}
              </span>
            </label>
          ))}
        </fieldset>
        {error !== null && <Failure error={error} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="solid" isDisabled={isPending}>
            Make the key
          </Button>
        </div>
      </form>
    </dialog>
  );
}
