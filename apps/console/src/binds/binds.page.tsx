import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { Badge, Facts, Page } from '../ui/layout.js';
import { Empty, Loaded } from '../ui/states.js';
import { BindActs } from './bind-acts.js';
import { type Bind, bindsQuery, load, STATE_TONES } from './bind-queries.js';
import './binds.css';

export function BindsPage(): JSX.Element {
  const query = useInfiniteQuery(bindsQuery);
  return (
    <Page title="Binds" lead="The connections that we open to carriers. Refreshed every 5 seconds.">
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
        A bind connects us to a carrier’s SMSC. Create one with <code>POST /v1/admin/binds</code>; it appears here
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
  const { bound, submit, deliver, used } = load(bind);
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
          <span key={slot} data-tone={STATE_TONES[each.state]} title={`Connection ${String(slot)}: ${each.state}`} />
        ))}
      </div>
      <Facts
        of={[
          ['Bound', `${String(bound)} of ${String(bind.connections)}`],
          ['Out', `${submit.toFixed(1)} /s`],
          ['In', `${deliver.toFixed(1)} /s`],
          ['Window', `${String(used)} of ${String(bind.window * bind.connections)}`],
        ]}
      />
      {lastError !== null && <p className="bind-error">{lastError}</p>}
      <div className="page-actions">
        <BindActs bind={bind} />
      </div>
    </li>
  );
}
