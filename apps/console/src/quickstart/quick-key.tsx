import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { keyOf, useScope } from '../account/scope.js';
import { makeKey } from '../keys/key-queries.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { Failure } from '../ui/states.js';
import { ShownOnce } from '../ui/shown-once.js';
import { quickKeyQuery } from './quickstart-queries.js';

/** Makes the key of the quickstart, or shows it until the page is loaded again. */
export function QuickKey({ apiKey }: { readonly apiKey: string | undefined }): JSX.Element {
  const scope = useScope();
  const client = useQueryClient();
  const { mutate, error, isPending } = useAct({
    run: () => makeKey(scope, { name: 'quickstart' }),
    done: ({ key = '' }) => {
      client.setQueryData(quickKeyQuery(scope).queryKey, key);
      return 'The key is in the code below.';
    },
    changes: keyOf(scope, 'keys'),
  });
  if (apiKey !== undefined) return <ShownOnce secret={apiKey} name={`${scope.mode} key`} />;
  return (
    <div className="stack">
      <p className="soft">
        {scope.mode === 'test'
          ? 'A test key opens real sessions that send nothing: the phone number decides what happens.'
          : 'A live key sends cards and SMS, which cost money.'}{' '}
        All keys are under{' '}
        <Link to="/keys" search={scope.search}>
          Keys
        </Link>
        .
      </p>
      {error !== null && <Failure error={error} />}
      {scope.mayChange ? (
        <div>
          <Button kind="solid" isDisabled={isPending} onPress={() => mutate(undefined)}>
            Make a {scope.mode} key
          </Button>
        </div>
      ) : (
        <p>Your role only reads. Ask a developer of the account for a key, and put it where the code says YOUR_KEY.</p>
      )}
    </div>
  );
}
