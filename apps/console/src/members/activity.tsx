import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { api, dataOf, type Schemas } from '../api/client.js';
import { isAtLeast, meQuery } from '../api/session.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { FormDialog } from '../ui/form-dialog.js';
import { Loaded } from '../ui/states.js';

type Member = Schemas['MemberAnswer'];
type Key = Schemas['KeyAnswer'];
type Change = Schemas['MemberChange'];

/** The valid keys whose texts the member knows. */
const keysQuery = ({ id }: Member) => ({
  queryKey: ['members', id, 'keys'],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<readonly Key[]> => {
    const params = { path: { id } };
    const { data } = await dataOf(api.GET('/v1/admin/members/{id}/keys', { params, signal }));
    return data.filter(({ revokedAt }) => revokedAt === null);
  },
});

/** Activates or deactivates a member. Before a deactivation it shows the keys that the member leaves behind. */
export function Activity({ member }: { readonly member: Member }): JSX.Element | null {
  const { data: me } = useSuspenseQuery(meQuery);
  const [isAsked, setAsked] = useState(false);
  const { mutate, error, isPending } = useAct({
    run: (body: Change) => dataOf(api.PATCH('/v1/admin/members/{id}', { params: { path: { id: member.id } }, body })),
    done: ({ name, active }) => {
      setAsked(false);
      return active ? `${name} may sign in again.` : `${name} is signed out and cannot sign in.`;
    },
    changes: ['members'],
  });
  if (me === null || !isAtLeast(me.role, 'owner')) return null;
  return (
    <>
      <Button isDisabled={isPending} onPress={() => (member.active ? setAsked(true) : mutate({ active: true }))}>
        {member.active ? 'Deactivate' : 'Activate'}
        <span className="visually-hidden"> {member.name}</span>
      </Button>
      {isAsked && (
        <FormDialog
          title={`Deactivate ${member.name}?`}
          act="Deactivate"
          lead={`The sessions of ${member.name} end at once. You can activate the member again.`}
          error={error}
          isPending={isPending}
          onSubmit={(values) => mutate({ active: false, revokeKeys: values.isChecked('revokeKeys') })}
          onClose={() => setAsked(false)}
        >
          {member.accountId !== undefined && <KnownKeys member={member} />}
        </FormDialog>
      )}
    </>
  );
}

function KnownKeys({ member }: { readonly member: Member }): JSX.Element {
  const query = useQuery(keysQuery(member));
  return (
    <Loaded query={query} what="the keys">
      {(keys) =>
        keys.length === 0 ? (
          <p className="soft">No valid key was made or rotated by this member.</p>
        ) : (
          <fieldset className="choices">
            <legend>Valid keys that {member.name} made or rotated, and so has seen</legend>
            <ul>
              {keys.map(({ id, name, kind, prefix }) => (
                <li key={id}>
                  {name} <code className="soft">{prefix}…</code> {kind}
                </li>
              ))}
            </ul>
            <label className="choice">
              <input type="checkbox" name="revokeKeys" />
              <span>Revoke them. Servers with these keys are refused within 5 s.</span>
            </label>
          </fieldset>
        )
      }
    </Loaded>
  );
}
