import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { DeleteButton } from '../ui/delete-button.js';
import { Badge, Facts, Page, type Tone } from '../ui/layout.js';
import { useIsAtLeast } from '../ui/role.js';
import { Secret } from '../ui/secret.js';
import { Empty, Loaded } from '../ui/states.js';
import { CopyText } from '../ui/texts.js';
import { Ago } from '../ui/time.js';
import { EditSystem } from './system-form.js';
import {
  deleteSystem,
  rotatePassword,
  type System,
  type SystemConnection,
  systemsQuery,
  updateSystem,
} from './system-queries.js';

function stateOf({ enabled, connections }: System): readonly [Tone, string] {
  if (!enabled) return ['quiet', 'disabled'];
  return connections.length === 0 ? ['warn', 'not connected'] : ['good', `${String(connections.length)} connected`];
}

/** The reasons of refused binds, in words. */
const REASONS: Readonly<Record<string, string>> = {
  wrong_password: 'a wrong password',
  address: 'an address that is not allowed',
  tls_required: 'a connection without TLS',
  certificate: 'a client certificate that does not fit',
  bind_type: 'a bind type that is not allowed',
  too_many_connections: 'too many connections',
  disabled: 'the system is disabled',
  shut_out: 'too many wrong passwords from this address',
  guarded: 'too many wrong passwords',
};

function Rotation({ system: { id, systemId } }: { readonly system: System }): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  const [password, setPassword] = useState<string | null>(null);
  const { mutate, isPending } = useAct({
    run: () => rotatePassword(id),
    done: (system) => {
      setPassword(system.password ?? null);
      return `${systemId} has a new password.`;
    },
    changes: ['systems'],
  });
  return (
    <>
      <Button isDisabled={isPending} onPress={() => setAsked(true)}>
        New password<span className="visually-hidden"> for {systemId}</span>
      </Button>
      {isAsked && (
        <Confirm
          title={`A new password for ${systemId}?`}
          act="Make one"
          isDangerous
          onConfirm={() => mutate()}
          onClose={() => setAsked(false)}
        >
          <p className="soft">The old one is invalid at once: the system cannot bind again until it has the new one.</p>
        </Confirm>
      )}
      {password !== null && (
        <Secret title={`The password of ${systemId}`} secret={password} onClose={() => setPassword(null)} />
      )}
    </>
  );
}

function SystemActs({ system }: { readonly system: System }): JSX.Element | null {
  const { id, systemId, enabled } = system;
  const toggle = useAct({
    run: () => updateSystem(id, { enabled: !enabled }),
    done: (now) => `${systemId} is ${now.enabled ? 'enabled' : 'disabled'}.`,
    changes: ['systems'],
  });
  const remove = useAct({
    run: () => deleteSystem(id),
    done: () => `${systemId} is deleted.`,
    changes: ['systems'],
  });
  if (!useIsAtLeast('operator')) return null;
  return (
    <div className="page-actions">
      <Button kind={enabled ? 'quiet' : 'solid'} isDisabled={toggle.isPending} onPress={() => toggle.mutate()}>
        {enabled ? 'Disable' : 'Enable'}
        <span className="visually-hidden"> {systemId}</span>
      </Button>
      <EditSystem system={system} />
      <Rotation system={system} />
      <DeleteButton what={systemId} isPending={remove.isPending} onDelete={() => remove.mutate()}>
        Its connections end. A system that a route leads to cannot be deleted: delete the route first.
      </DeleteButton>
    </div>
  );
}

const COLUMNS: readonly Column<SystemConnection>[] = [
  {
    name: 'From',
    cell: ({ address, tls }) => (
      <>
        <span className="mono">{address}</span> {tls && <Badge tone="good">TLS</Badge>}
      </>
    ),
  },
  { name: 'Type', cell: ({ bindType, state }) => (state === 'bound' ? bindType : `${bindType}, ${state}`) },
  { name: 'Since', cell: ({ since }) => <Ago at={since} /> },
  { name: 'Window', align: 'end', cell: ({ windowUsed }) => windowUsed },
  { name: 'Per second', align: 'end', cell: ({ measuredSubmitPerSecond }) => measuredSubmitPerSecond.toFixed(1) },
  { name: 'Throttled', align: 'end', cell: ({ throttled }) => throttled },
  {
    name: 'Error',
    cell: ({ lastError, lastErrorAt }) =>
      lastError === null ? (
        <span className="soft">none</span>
      ) : (
        <span className="bad">
          {lastError} <Ago at={lastErrorAt} />
        </span>
      ),
  },
];

const keyOf = ({ owner, address }: SystemConnection): string => `${owner} ${address}`;

const SystemCard = ({ system }: { readonly system: System }): JSX.Element => {
  const { systemId, carrier, connections, lastRefusal, refusedBinds, trustWarning } = system;
  const [tone, state] = stateOf(system);
  return (
    <li className="panel">
      <div className="panel-head">
        <div>
          <h2>{systemId}</h2>
          <p className="soft small">{carrier}</p>
        </div>
        <Badge tone={tone}>{state}</Badge>
      </div>
      {trustWarning !== null && (
        <p className="notice" data-tone="warn">
          {trustWarning}
        </p>
      )}
      <Facts
        of={[
          ['Networks', system.allowedCidrs.length === 0 ? 'any' : system.allowedCidrs.join(', ')],
          ['TLS', system.tlsRequired ? 'required' : 'optional'],
          ['Types', system.bindTypes.join(', ')],
          ['Connections', `${String(connections.length)} of ${String(system.maxConnections)}`],
          ['Accepted', system.submitPerSecond === null ? 'no limit' : `${String(system.submitPerSecond)} /s`],
          ['Approves sessions', system.trustedForMo ? 'yes, trusted for MO' : 'no'],
          ['Refused binds', refusedBinds.toLocaleString('en')],
          ['Id', <CopyText key="id" text={system.id} name="the id" />],
        ]}
      />
      {lastRefusal !== null && (
        <p className="small">
          Last refused <Ago at={lastRefusal.at} />: {REASONS[lastRefusal.reason] ?? lastRefusal.reason}, from{' '}
          <span className="mono">{lastRefusal.address}</span>.
        </p>
      )}
      {connections.length > 0 && (
        <DataTable label={`Connections of ${systemId}`} columns={COLUMNS} rows={connections} keyOf={keyOf} />
      )}
      <SystemActs system={system} />
    </li>
  );
};

export function SystemsPage(): JSX.Element {
  const query = useInfiniteQuery(systemsQuery);
  const mayChange = useIsAtLeast('operator');
  return (
    <Page
      title="Systems"
      lead={
        <>
          Carriers and aggregators that connect to our gateways over SMPP. Connections in the other direction are{' '}
          <Link to="/binds">binds</Link>.
        </>
      }
      actions={mayChange && <EditSystem system={null} />}
    >
      <Loaded query={query} what="the systems">
        {({ pages }) => <Systems systems={pages.flatMap(({ data }) => data)} />}
      </Loaded>
      {query.hasNextPage && (
        <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
          Load older systems
        </Button>
      )}
    </Page>
  );
}

const Systems = ({ systems }: { readonly systems: readonly System[] }): JSX.Element =>
  systems.length === 0 ? (
    <div className="table-frame">
      <Empty title="No system may connect yet">
        Create one for an aggregator that connects to us; it binds with its system_id and the password that you give it.
      </Empty>
    </div>
  ) : (
    <ul className="stack" aria-label="Systems">
      {systems.map((system) => (
        <SystemCard system={system} key={system.id} />
      ))}
    </ul>
  );
