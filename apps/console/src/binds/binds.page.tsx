import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { Badge, Facts, Page } from '../ui/layout.js';
import { Empty, Loaded } from '../ui/states.js';
import { BindActs } from './bind-acts.js';
import { EditBind, NewBind } from './bind-form.js';
import { type Bind, bindsQuery, load, STATE_TONES } from './bind-queries.js';
import { useBindsInterval } from './live-binds.js';
import './binds.css';

export function BindsPage(): JSX.Element {
  const query = useInfiniteQuery({ ...bindsQuery, refetchInterval: useBindsInterval() });
  return (
    <Page
      title="Binds"
      lead="The SMPP connections that our gateways open to carriers, as they are now."
      actions={<NewBind />}
    >
      <Loaded query={query} what="the binds">
        {({ pages }) => <Board binds={pages.flatMap(({ data }) => data)} />}
      </Loaded>
    </Page>
  );
}

const Board = ({ binds }: { readonly binds: readonly Bind[] }): JSX.Element =>
  binds.length === 0 ? (
    <div className="table-frame">
      <Empty title="There is no bind yet">
        A bind connects us to a carrier’s SMSC. Create one with the account that the carrier gave you: gateways connect
        within seconds.
      </Empty>
    </div>
  ) : (
    <ul className="board" aria-label="Binds">
      {binds.map((bind) => (
        <BindCard bind={bind} key={bind.id} />
      ))}
    </ul>
  );

function BindCard({ bind }: { readonly bind: Bind }): JSX.Element {
  const { id, name, carrier, status } = bind;
  const { bound, submit, deliver, used, latency } = load(bind);
  const lastError = status.connections.find((each) => each.lastError !== null)?.lastError ?? null;
  return (
    <li className="bind">
      <div className="bind-head">
        <div>
          <h2>
            <Link to="/binds/$id" params={{ id }}>
              {name}
            </Link>
          </h2>
          <p className="soft small">{carrier}</p>
        </div>
        <Badge tone={STATE_TONES[status.state]}>{status.state}</Badge>
      </div>
      <div
        className="slots"
        role="img"
        aria-label={`${String(bound)} of ${String(bind.connections)} connections are bound`}
      >
        {status.connections.map((each, slot) => (
          <span
            key={slot}
            data-tone={bind.enabled ? STATE_TONES[each.state] : 'quiet'}
            title={`Connection ${String(slot)}: ${each.state}`}
          />
        ))}
      </div>
      <Facts
        of={[
          ['Bound', `${String(bound)} of ${String(bind.connections)}`],
          ['Out', `${submit.toFixed(1)} /s`],
          ['In', `${deliver.toFixed(1)} /s`],
          ['Window', `${String(used)} of ${String(bind.window * bind.connections)}`],
          ['Latency', latency === null ? '–' : `${String(latency)} ms`],
          ['Held by', <Owners key="owner" bind={bind} />],
        ]}
      />
      {lastError !== null && <p className="bind-error">{lastError}</p>}
      <div className="page-actions">
        <BindActs bind={bind} />
        <EditBind bind={bind} of="load" />
      </div>
    </li>
  );
}

/** The gateways that hold its connections. */
function Owners({ bind }: { readonly bind: Bind }): JSX.Element {
  const owners = new Set(bind.status.connections.flatMap(({ owner }) => owner ?? []));
  if (owners.size === 0) return <span className="soft">none</span>;
  return (
    <Link to="/gateways" title={[...owners].join(', ')}>
      {owners.size === 1 ? '1 gateway' : `${String(owners.size)} gateways`}
    </Link>
  );
}
