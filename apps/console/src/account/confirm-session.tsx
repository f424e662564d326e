import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type JSX, type ReactNode, useCallback, useState } from 'react';
import { api, dataOf } from '../api/client.js';
import { keep, type Me, meQuery } from '../api/session.js';
import { ConfirmationContext } from '../ui/confirmation.js';
import { FormDialog } from '../ui/form-dialog.js';

const confirmSession = async (key: string): Promise<Me> =>
  keep(await dataOf(api.POST('/sessions/current/confirm', { body: { key } })));

/** An act that waits for the confirmation. */
interface Waiting {
  readonly end: (isConfirmed: boolean) => void;
}

/** Asks for a live key of the account when an act of the pages inside needs a confirmed session. The key is not kept. */
export function ConfirmSession({ children }: { readonly children: ReactNode }): JSX.Element {
  const [waiting, setWaiting] = useState<Waiting | null>(null);
  const client = useQueryClient();
  const ask = useCallback(() => new Promise<boolean>((end) => setWaiting({ end })), []);
  const end = (isConfirmed: boolean): void => {
    waiting?.end(isConfirmed);
    setWaiting(null);
  };
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: confirmSession,
    onSuccess: (me) => {
      client.setQueryData(meQuery.queryKey, me);
      end(true);
    },
  });
  return (
    <ConfirmationContext value={ask}>
      {children}
      {waiting !== null && (
        <FormDialog
          title="Confirm with a live key"
          act="Confirm"
          lead="You signed in with a phone, which is not enough to change what is live. Enter one of the account’s live API keys: you may then change keys, webhook and brands for 15 minutes."
          error={error}
          isPending={isPending}
          onSubmit={(values) => mutate(values.text('key'))}
          onClose={() => {
            reset();
            end(false);
          }}
        >
          <label className="field">
            <span>Live API key</span>
            <input name="key" type="password" autoComplete="off" placeholder="csk_live_…" required />
          </label>
          <p className="small soft">
            It is compared, and not kept. An owner of the installation makes the first key of an account.
          </p>
        </FormDialog>
      )}
    </ConfirmationContext>
  );
}
