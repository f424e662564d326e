import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type JSX, useMemo, useState } from 'react';
import { type AccountScope, keyOf, useScope } from '../account/scope.js';
import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';
import { saveCsv } from '../ui/save-file.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import type { Column } from '../ui/data-table.js';
import { Badge, Page, type Tone } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { Empty } from '../ui/states.js';
import { CopyText } from '../ui/texts.js';
import { Ago } from '../ui/time.js';
import './requests.css';

type Logged = Schemas['RequestAnswer'];

const requestsQuery = (scope: AccountScope) =>
  listing<Logged>(keyOf(scope, 'requests'), (query, signal) =>
    dataOf(api.GET('/v1/account/requests', { headers: scope.headers, params: { query }, signal })),
  );

/** Names of the account's keys by id; the first 100. */
const keyNamesQuery = (scope: AccountScope) => ({
  queryKey: keyOf(scope, 'key-names'),
  staleTime: 60_000,
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<ReadonlyMap<string, string>> => {
    const params = { query: { limit: 100 } };
    const { data } = await dataOf(api.GET('/v1/account/keys', { headers: scope.headers, params, signal }));
    return new Map(data.map(({ id, name }) => [id, name]));
  },
});

const toneOf = (status: number): Tone => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good');

const columnsFor = (names: ReadonlyMap<string, string> | undefined): readonly Column<Logged>[] => [
  {
    name: 'Request',
    value: ({ path }) => path,
    cell: ({ id, method, path }) => (
      <>
        <span className="request">
          <strong>{method}</strong> <code>{path}</code>
        </span>
        <span className="request-id soft">
          <CopyText text={id} name="the request id" />
        </span>
      </>
    ),
  },
  {
    name: 'Status',
    value: ({ status }) => status,
    cell: ({ status }) => <Badge tone={toneOf(status)}>{status}</Badge>,
  },
  {
    name: 'Error',
    value: ({ code }) => code ?? '',
    cell: ({ code }) =>
      code === null ? (
        <span className="soft">–</span>
      ) : (
        <a href={`/docs/errors/${encodeURIComponent(code)}`} target="_blank" rel="noreferrer">
          {code}
        </a>
      ),
  },
  { name: 'When', value: ({ at }) => at, cell: ({ at }) => <Ago at={at} /> },
  { name: 'Key', value: ({ keyId }) => names?.get(keyId) ?? '', cell: ({ keyId }) => names?.get(keyId) ?? 'console' },
  {
    name: 'Time',
    align: 'end',
    value: ({ latencyMs }) => latencyMs,
    cell: ({ latencyMs }) => <span className="request-time">{latencyMs} ms</span>,
  },
];

const KINDS = [
  ['errors', 'Errors'],
  ['all', 'Errors and samples'],
] as const;

/** The log of the requests of the account: errors with the page that explains each, and samples of the rest. */
export function RequestsPage(): JSX.Element {
  const scope = useScope();
  const query = useInfiniteQuery(requestsQuery(scope));
  const { data: names } = useQuery(keyNamesQuery(scope));
  const [kind, setKind] = useState<'errors' | 'all'>('errors');
  const columns = useMemo(() => columnsFor(names), [names]);
  const filter = useMemo(() => (kind === 'all' ? null : ({ code }: Logged) => code !== null), [kind]);
  const csv = useAct({
    run: () => saveCsv('requests.csv', '/v1/account/requests?format=csv&limit=100', scope.headers),
    done: () => 'The newest 100 requests are in requests.csv.',
    changes: keyOf(scope, 'csv'),
  });
  return (
    <Page
      title="Requests"
      lead="Calls of your servers: every error and 1 % of the rest, for 7 days. Bodies are not recorded, phones are masked."
      actions={
        <>
          <Button onPress={() => csv.mutate(undefined)}>Save as CSV</Button>
          <Button onPress={() => void query.refetch()}>{query.isRefetching ? 'Reading…' : 'Refresh'}</Button>
        </>
      }
    >
      <div className="tabs" role="group" aria-label="Which requests">
        {KINDS.map(([each, name]) => (
          <button key={each} type="button" aria-pressed={kind === each} onClick={() => setKind(each)}>
            {name}
          </button>
        ))}
      </div>
      <ListingTable
        query={query}
        what="requests"
        columns={columns}
        keyOf={({ id }) => id}
        {...(filter === null ? {} : { filter })}
        empty={
          <Empty title={kind === 'errors' ? 'No error' : 'No request yet'}>
            {kind === 'errors'
              ? `No call with a ${scope.mode} key has failed in the last 7 days. Show samples of the rest to see that calls arrive.`
              : 'Requests appear here within seconds of a call with a key of the account.'}
          </Empty>
        }
      />
    </Page>
  );
}
