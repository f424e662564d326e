import { useInfiniteQuery } from '@tanstack/react-query';
import { type JSX, useMemo, useState } from 'react';
import { useScope } from '../account/scope.js';
import { Button } from '../ui/button.js';
import type { Column } from '../ui/data-table.js';
import { Badge, Page, Panel } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { ShownOnce } from '../ui/shown-once.js';
import { Empty } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { KeyActs } from './key-acts.js';
import { type Key, keysQuery } from './key-queries.js';
import './keys.css';
import { NewKey } from './new-key.js';

/** Requests a minute of a key without limits of its own (contract, General). */
const DEFAULT_LIMITS = { default: 600, create: 300, poll: 60, usage: 60 } as const;

/** Such as `600 a minute, 300 creates`. */
function limitsOf({ limits }: Key): string {
  const all = { ...DEFAULT_LIMITS, ...limits };
  return `${all.default.toLocaleString('en')} calls, ${all.create.toLocaleString('en')} creates a minute`;
}

function columnsFor(mayChange: boolean, onRotated: (key: Key) => void): readonly Column<Key>[] {
  const columns: Column<Key>[] = [
    {
      name: 'Name',
      value: ({ name }) => name,
      cell: ({ name, prefix }) => (
        <>
          <strong>{name}</strong>
          <br />
          <code className="key-prefix soft">{prefix}…</code>
        </>
      ),
    },
    {
      name: 'Scopes',
      cell: ({ scopes }) => (
        <span className="scopes">
          {scopes.map((each) => (
            <code key={each}>{each}</code>
          ))}
        </span>
      ),
    },
    { name: 'Limits', cell: (key) => <span className="small">{limitsOf(key)}</span> },
    {
      name: 'Last use',
      value: ({ lastUsedAt }) => lastUsedAt ?? '',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? <span className="soft">never</span> : <Ago at={lastUsedAt} />),
    },
    {
      name: 'State',
      value: ({ revokedAt }) => revokedAt ?? '',
      cell: ({ revokedAt }) =>
        revokedAt === null ? (
          <Badge tone="good">valid</Badge>
        ) : (
          <>
            <Badge tone="quiet">revoked</Badge>{' '}
            <span className="small soft">
              <Ago at={revokedAt} />
            </span>
          </>
        ),
    },
  ];
  if (!mayChange) return columns;
  const acts: Column<Key> = {
    name: 'Actions',
    align: 'end',
    cell: (key) => (key.revokedAt === null ? <KeyActs of={key} onRotated={onRotated} /> : null),
  };
  return [...columns, acts];
}

/** The keys of the account in the present mode. The text of a key is shown once, when it is made. */
export function KeysPage(): JSX.Element {
  const scope = useScope();
  const [isAsked, setAsked] = useState(false);
  const [made, setMade] = useState<Key | null>(null);
  const query = useInfiniteQuery(keysQuery(scope));
  const columns = useMemo(() => columnsFor(scope.mayChange, setMade), [scope.mayChange]);
  return (
    <Page
      title="Keys"
      lead={`Your servers call the API with a key. These are the ${scope.mode} keys; only their digests are stored.`}
      actions={
        scope.mayChange && (
          <Button kind="solid" onPress={() => setAsked(true)}>
            Make a {scope.mode} key
          </Button>
        )
      }
    >
      {made?.key !== undefined && made.kind === scope.mode && (
        <Panel title={made.name} aside={<Button onPress={() => setMade(null)}>I have copied it</Button>}>
          <ShownOnce secret={made.key} name="key" />
        </Panel>
      )}
      <ListingTable
        query={query}
        what="keys"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Empty title={`No ${scope.mode} key yet`}>
            {scope.mayChange
              ? 'Make one, and give it to your server. A test key sends nothing to phones.'
              : 'A developer of the account makes one here.'}
          </Empty>
        }
      />
      {isAsked && (
        <NewKey
          onMade={(key) => {
            setMade(key);
            setAsked(false);
          }}
          onClose={() => setAsked(false)}
        />
      )}
    </Page>
  );
}
