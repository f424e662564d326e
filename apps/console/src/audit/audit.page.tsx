import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import type { Column } from '../ui/data-table.js';
import { Filters, TextField } from '../ui/filters.js';
import { Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { Empty } from '../ui/states.js';
import { Json } from '../ui/texts.js';
import { Ago } from '../ui/time.js';
import { auditQuery, changesOf, type Entry } from './audit-queries.js';

const route = getRouteApi('/shell/audit');
const COLUMNS: readonly Column<Entry>[] = [
  {
    name: 'Action',
    value: ({ action }) => action,
    cell: ({ action, resource }) => (
      <>
        <strong>{action.replaceAll('-', ' ')}</strong> {resource.replaceAll('-', ' ')}
      </>
    ),
  },
  { name: 'By', value: ({ actor }) => actor, cell: ({ actor }) => actor },
  { name: 'Time', value: ({ at }) => at, cell: ({ at }) => <Ago at={at} /> },
  {
    name: 'Object',
    value: ({ resourceId }) => resourceId,
    cell: ({ resourceId }) => <code className="small">{resourceId}</code>,
  },
  {
    name: 'Details',
    cell: (entry) => (
      <details>
        <summary>Show</summary>
        <Json value={changesOf(entry)} label={`Change of ${entry.resourceId}`} />
        <p className="soft small">Request {entry.requestId ?? 'unknown'}</p>
      </details>
    ),
  },
];

export function AuditPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(auditQuery(search));
  return (
    <Page title="Audit" lead="Changes and reads of people’s data, newest first. No entry can be changed.">
      <Filters<'resource' | 'resourceId'> onApply={(values) => void navigate({ search: values })}>
        <TextField name="resource" label="Resource" value={search.resource} placeholder="binds" />
        <TextField name="resourceId" label="Id" value={search.resourceId} placeholder="bind_…" />
      </Filters>
      <ListingTable
        query={query}
        what="entries"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No entry matches">Remove a filter: a resource is spelled as in its path, such as binds.</Empty>
        }
      />
    </Page>
  );
}
