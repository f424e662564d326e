import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';
import { isAtLeast, meQuery } from '../api/session.js';
import type { Column } from '../ui/data-table.js';
import { Badge, Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { AccountName } from '../ui/names.js';
import { Empty } from '../ui/states.js';
import { Phone } from '../ui/texts.js';
import { Ago } from '../ui/time.js';
import { Activity } from './activity.js';
import { NewMember } from './new-member.js';

type Member = Schemas['MemberAnswer'];

const membersQuery = listing(['members'], (query, signal) =>
  dataOf(api.GET('/v1/admin/members', { params: { query }, signal })),
);

const COLUMNS: readonly Column<Member>[] = [
  {
    name: 'Name',
    value: ({ name }) => name,
    cell: ({ name, email }) => (
      <>
        <strong>{name}</strong>
        {email !== null && (
          <>
            <br />
            <span className="soft small email">{email}</span>
          </>
        )}
      </>
    ),
  },
  { name: 'Role', value: ({ role }) => role, cell: ({ role }) => role },
  {
    name: 'Member of',
    value: ({ accountId }) => accountId ?? '',
    cell: ({ accountId }) =>
      accountId === undefined ? <span className="soft">this installation</span> : <AccountName id={accountId} />,
  },
  { name: 'Phone', cell: ({ phone }) => (phone === null ? '–' : <Phone number={phone} mayReveal />) },
  {
    name: 'Last sign-in',
    value: (row) => row.lastSignInAt ?? '',
    cell: ({ lastSignInAt }) => (lastSignInAt === null ? '–' : <Ago at={lastSignInAt} />),
  },
  {
    name: 'State',
    value: ({ active }) => (active ? 'active' : 'off'),
    cell: ({ active }) => <Badge tone={active ? 'good' : 'quiet'}>{active ? 'active' : 'deactivated'}</Badge>,
  },
  {
    name: 'Actions',
    align: 'end',
    cell: (member) => (
      <div className="row-acts">
        <Activity member={member} />
      </div>
    ),
  },
];

export function MembersPage(): JSX.Element {
  const query = useInfiniteQuery(membersQuery);
  const { data: me } = useSuspenseQuery(meQuery);
  return (
    <Page
      title="Members"
      lead="People who sign in: engineers of this installation, and developers of accounts."
      actions={me !== null && isAtLeast(me.role, 'owner') && <NewMember />}
    >
      <ListingTable
        query={query}
        what="members"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty title="There is no member yet">
            Engineers sign in with admin keys until an owner adds members here.
          </Empty>
        }
      />
    </Page>
  );
}
