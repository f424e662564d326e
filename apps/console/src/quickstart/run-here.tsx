import { useQueryClient } from '@tanstack/react-query';
import type { JSX } from 'react';
import { keyOf, useScope } from '../account/scope.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { Failure } from '../ui/states.js';
import { EXAMPLE_CHALLENGE, type Sample } from './code-samples.js';
import { latestQuery, openSession } from './quickstart-queries.js';

interface RunHereProps {
  readonly sample: Sample;
  readonly apiKey: string | undefined;
}

/** Makes the call of the code from this page, with the key that was made here. */
export function RunHere({ sample: { phone, accountId, brandId }, apiKey }: RunHereProps): JSX.Element {
  const scope = useScope();
  const client = useQueryClient();
  const { mutate, error, isPending } = useAct({
    run: (key: string) => openSession(key, { phone, accountId, brandId, clientChallenge: EXAMPLE_CHALLENGE }),
    done: () => {
      void client.invalidateQueries({ queryKey: latestQuery(scope, apiKey).queryKey });
      return 'The session is open.';
    },
    changes: keyOf(scope, 'latest'),
  });
  return (
    <div className="stack">
      <div className="row row-middle">
        <Button
          kind="solid"
          isDisabled={apiKey === undefined || isPending}
          onPress={() => {
            if (apiKey !== undefined) mutate(apiKey);
          }}
        >
          Open a session here
        </Button>
        <span className="soft small">
          {apiKey === undefined ? 'Needs the key of step 1.' : 'The same call as the code, made by this page.'}
        </span>
      </div>
      {error !== null && <Failure error={error} />}
    </div>
  );
}
