import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';
import { isAtLeast, meQuery } from '../api/session.js';
import type { Column } from '../ui/data-table.js';
import { Badge, Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
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
  { name: 'Name', value: ({ name }) => name, cell: ({ name }) => <strong>{name}</strong> },
  { name: 'Role', value: ({ role }) => role, cell: ({ role }) => role },
  {
    name: 'Of',
    value: ({ accountId }) => accountId ?? '',
    cell: ({ accountId }) =>
      accountId === undefined ? 'the installation' : <code className="small">{accountId}</code>,
  },
  { name: 'Email', value: ({ email }) => email ?? '', cell: ({ email }) => email ?? '–' },
  { name: 'Phone', cell: ({ phone }) => (phone === null ? '–' : <Phone number={phone} mayReveal />) },
  {
    name: 'Last sign-in',
    value: (row) => row.lastSignInAt ?? '',
    cell: ({ lastSignInAt }) => <Ago at={lastSignInAt} />,
  },
  {
    name: 'State',
    value: ({ active }) => (active ? 'active' : 'off'),
    cell: ({ active }) => <Badge tone={active ? 'good' : 'quiet'}>{active ? 'active' : 'deactivated'}</Badge>,
  },
  { name: 'Acts', align: 'end', cell: (member) => <Activity member={member} /> },
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
