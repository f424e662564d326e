import { type JSX, useState } from 'react';
import { keyOf, useScope } from '../account/scope.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { type Key, revokeKey, rotateKey } from './key-queries.js';

interface KeyActsProps {
  readonly of: Key;
  /** Called with the new text of the key. */
  readonly onRotated: (key: Key) => void;
}

/** Rotates or revokes a key, after a question. */
export function KeyActs({ of: { id, name }, onRotated }: KeyActsProps): JSX.Element {
  const scope = useScope();
  const [asked, setAsked] = useState<'rotate' | 'revoke' | null>(null);
  const changes = keyOf(scope, 'keys');
  const rotate = useAct({
    run: () => rotateKey(scope, id),
    done: (key) => {
      onRotated(key);
      return `${name} has a new text. The old one ends within 5 s.`;
    },
    changes,
  });
  const revoke = useAct({ run: () => revokeKey(scope, id), done: () => `${name} was revoked.`, changes });
  const close = (): void => setAsked(null);
  return (
    <span className="key-acts">
      <Button onPress={() => setAsked('rotate')}>
        Rotate<span className="visually-hidden"> {name}</span>
      </Button>
      <Button kind="danger" onPress={() => setAsked('revoke')}>
        Revoke<span className="visually-hidden"> {name}</span>
      </Button>
      {asked === 'rotate' && (
        <Confirm title={`Rotate ${name}?`} act="Rotate" onConfirm={() => rotate.mutate(undefined)} onClose={close}>
          <p>The key gets a new text, which is shown once. Servers with the old one are refused within 5 s.</p>
        </Confirm>
      )}
      {asked === 'revoke' && (
        <Confirm
          title={`Revoke ${name}?`}
          act="Revoke"
          isDangerous
          onConfirm={() => revoke.mutate(undefined)}
          onClose={close}
        >
          <p>Servers with this key are refused within 5 s. It cannot be restored.</p>
        </Confirm>
      )}
    </span>
  );
}
