import { type JSX, useState } from 'react';
import { keyOf, useScope } from '../account/scope.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { Panel } from '../ui/layout.js';
import { ShownOnce } from '../ui/shown-once.js';
import { Time } from '../ui/time.js';
import { rotateSecret } from './webhook-queries.js';

/** The secret that signs the webhooks of the present mode. It is shown once, when it is replaced. */
export function Secret(): JSX.Element {
  const scope = useScope();
  const [isAsked, setAsked] = useState(false);
  const { mutate, data, reset } = useAct({
    run: () => rotateSecret(scope),
    done: () => 'The secret was replaced. The previous one signs beside it for 24 hours.',
    changes: keyOf(scope, 'webhook'),
  });
  return (
    <Panel title={`Secret of ${scope.mode} webhooks`}>
      <p className="soft">
        Every webhook is signed as{' '}
        <a href="/docs/webhooks" target="_blank" rel="noreferrer">
          Standard Webhooks
        </a>
        . Your receiver verifies it with the secret, which nobody can read again: replace it when it is lost.
      </p>
      {data === undefined ? (
        scope.mayChange && (
          <div>
            <Button onPress={() => setAsked(true)}>Replace the secret</Button>
          </div>
        )
      ) : (
        <>
          <ShownOnce secret={data.secret} name="secret" />
          <p className="soft small">
            The previous one signs too until <Time at={data.previousValidUntil} />.
          </p>
          <div>
            <Button onPress={reset}>I have copied it</Button>
          </div>
        </>
      )}
      {isAsked && (
        <Confirm
          title={`Replace the secret of ${scope.mode} webhooks?`}
          act="Replace"
          onConfirm={() => mutate(undefined)}
          onClose={() => setAsked(false)}
        >
          <p>The new secret is shown once. The previous one signs beside it for 24 hours: give your receiver both.</p>
        </Confirm>
      )}
    </Panel>
  );
}
