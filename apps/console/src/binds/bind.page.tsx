import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { useAct } from '../ui/act.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { DeleteButton } from '../ui/delete-button.js';
import { Badge, Facts, Page, Panel } from '../ui/layout.js';
import { useIsAtLeast } from '../ui/role.js';
import { Loaded } from '../ui/states.js';
import { CopyText } from '../ui/texts.js';
import { Ago } from '../ui/time.js';
import { BindActs } from './bind-acts.js';
import { EditBind } from './bind-form.js';
import { type Bind, bindQuery, type Connection, deleteBind, STATE_TONES } from './bind-queries.js';
import { History } from './history.js';
import { shownHosts as hostsText } from './hosts.js';
import { useBindsInterval } from './live-binds.js';
import { TestMessage } from './test-message.js';
import { Trace } from './trace.js';
import './binds.css';

const route = getRouteApi('/shell/binds/$id');

export function BindPage(): JSX.Element {
  const { id } = route.useParams();
  const query = useQuery({ ...bindQuery(id), refetchInterval: useBindsInterval() });
  const above = (
    <Link className="back-link" to="/binds">
      ← Binds
    </Link>
  );
  if (query.data === undefined)
    return (
      <Page title="Bind" above={above}>
        <Loaded query={query} what="the bind">
          {() => null}
        </Loaded>
      </Page>
    );
  const bind = query.data;
  return (
    <Page
      title={bind.name}
      above={above}
      aside={<Badge tone={STATE_TONES[bind.status.state]}>{bind.status.state}</Badge>}
      lead={`Carrier ${bind.carrier}`}
      actions={
        <>
          <BindActs bind={bind} />
          <EditBind bind={bind} of="load" />
          <EditBind bind={bind} of="settings" />
          <Removal bind={bind} />
        </>
      }
    >
      <Loaded query={query} what="the bind">
        {(shown) => <Parts bind={shown} />}
      </Loaded>
    </Page>
  );
}

function Removal({ bind: { id, name } }: { readonly bind: Bind }): JSX.Element | null {
  const navigate = route.useNavigate();
  const { mutate, isPending } = useAct({
    run: () => deleteBind(id),
    done: () => {
      void navigate({ to: '/binds' });
      return `${name} is deleted.`;
    },
    changes: ['binds', 'list'],
  });
  if (!useIsAtLeast('operator')) return null;
  return (
    <DeleteButton what={name} isPending={isPending} onDelete={() => mutate()}>
      Its connections unbind at once. A bind that a route leads to cannot be deleted: delete the route first.
    </DeleteButton>
  );
}

const shownHosts = ({ hosts, outbind }: Bind): string =>
  outbind === null ? hostsText(hosts) : 'the carrier connects (outbind)';

const Parts = ({ bind }: { readonly bind: Bind }): JSX.Element => (
  <>
    <Panel title="Connections">
      <DataTable label="Connections" columns={COLUMNS} rows={slotsOf(bind)} keyOf={({ slot }) => String(slot)} />
    </Panel>
    <Panel title="Settings">
      <Facts
        of={[
          [
            'Hosts',
            <span key="hosts" className="mono">
              {shownHosts(bind)}
            </span>,
          ],
          ['TLS', bind.tls.enabled ? 'on' : 'off'],
          ['system_id', <code key="id">{bind.systemId}</code>],
          ['Type', `${bind.bindType}, SMPP ${bind.interfaceVersion}`],
          ['Connections', bind.connections],
          ['Window', `${String(bind.window)} a connection`],
          ['Rate', `${String(bind.submitPerSecond)} /s in all`],
          ['enquire_link', `after ${String(bind.enquireLinkSeconds)} s`],
          ['Response timeout', `${String(bind.responseTimeoutSeconds)} s`],
          ['Default alphabet', bind.defaultAlphabet],
          ['Approves sessions', bind.trustedForMo ? 'yes, trusted for MO' : 'no'],
          [
            'Sender format',
            bind.status.learnedSenderFormat === null
              ? bind.senderFormat
              : `${bind.senderFormat}, learned ${bind.status.learnedSenderFormat}`,
          ],
          ['Id', <CopyText key="copy" text={bind.id} name="the id" />],
        ]}
      />
    </Panel>
    <TestMessage bind={bind} />
    <History bind={bind} />
    <Trace bindId={bind.id} />
  </>
);

interface Slot extends Connection {
  readonly slot: number;
}

const slotsOf = ({ status }: Bind): readonly Slot[] => status.connections.map((each, slot) => ({ ...each, slot }));

const COLUMNS: readonly Column<Slot>[] = [
  {
    name: 'Connection',
    cell: (connection) => (
      <span className="connection">
        <Badge tone={STATE_TONES[connection.state]}>{connection.state}</Badge>
        <span className="soft small">
          Connection {connection.slot}
          {connection.host !== null && ` to ${connection.host}`}
        </span>
        <Errors of={connection} />
      </span>
    ),
  },
  { name: 'Since', cell: ({ since }) => <Ago at={since} /> },
  { name: 'Window', align: 'end', cell: ({ windowUsed }) => windowUsed },
  { name: 'Out /s', align: 'end', cell: ({ measuredSubmitPerSecond }) => measuredSubmitPerSecond.toFixed(1) },
  { name: 'In /s', align: 'end', cell: ({ measuredDeliverPerSecond }) => measuredDeliverPerSecond.toFixed(1) },
  {
    name: 'Latency',
    align: 'end',
    cell: ({ enquireLinkMs }) => (enquireLinkMs === null ? '–' : `${String(enquireLinkMs)} ms`),
  },
  { name: 'Throttled', align: 'end', cell: ({ throttled }) => throttled },
  { name: 'Reconnects', align: 'end', cell: ({ reconnects }) => reconnects },
];

/** The last error of a connection; the one before it when the connection has recovered. */
function Errors({ of: { lastError, lastErrorAt, previousError } }: { readonly of: Connection }): JSX.Element | null {
  if (lastError !== null)
    return (
      <span className="bind-error">
        {lastError} <Ago at={lastErrorAt} />
      </span>
    );
  if (previousError === null) return null;
  return (
    <span className="soft small">
      Earlier error: {previousError.error} <Ago at={previousError.at} />
    </span>
  );
}
