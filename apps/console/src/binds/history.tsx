import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { auditQuery } from '../audit/audit-queries.js';
import { Panel } from '../ui/layout.js';
import { Loaded } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { type HistoryEntry, historyOf } from './bind-history.js';
import type { Bind } from './bind-queries.js';

const SHOWN = 20;

/** The timeline of a bind: changes of engineers, states and errors of its connections. */
export function History({ bind }: { readonly bind: Bind }): JSX.Element {
  const query = useInfiniteQuery(auditQuery({ resource: 'binds', resourceId: bind.id }));
  const all = (
    <Link className="small" to="/audit" search={{ resource: 'binds', resourceId: bind.id }}>
      All changes in the audit log
    </Link>
  );
  return (
    <Panel title="Timeline" aside={all}>
      <Loaded query={query} what="the timeline">
        {({ pages }) => (
          <ol className="history">
            {historyOf(
              bind,
              pages.flatMap(({ data }) => data),
            )
              .slice(0, SHOWN)
              .map((entry, index) => (
                <Line key={`${entry.at} ${String(index)}`} entry={entry} />
              ))}
          </ol>
        )}
      </Loaded>
      <p className="soft small">The last two errors of each connection are kept, and every change by an engineer.</p>
    </Panel>
  );
}

const Line = ({ entry: { at, tone, text, detail } }: { readonly entry: HistoryEntry }): JSX.Element => (
  <li data-tone={tone}>
    <strong>{text}</strong>
    {detail !== null && <span className="soft small">{detail}</span>}
    <span className="soft small">
      <Ago at={at} />
    </span>
  </li>
);
