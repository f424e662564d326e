import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { auditQuery } from '../audit/audit-queries.js';
import { Button } from '../ui/button.js';
import { Panel } from '../ui/layout.js';
import { Empty, Loaded } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { type HistoryEntry, historyOf } from './bind-history.js';
import { type Bind, historyQuery } from './bind-queries.js';

/** Entries that are shown at first, and that each press adds. */
const PART = 20;

/** The timeline of a bind: changes by engineers, binds, ends and errors of its connections. */
export function History({ bind }: { readonly bind: Bind }): JSX.Element {
  const audit = useInfiniteQuery(auditQuery({ resource: 'binds', resourceId: bind.id }));
  const events = useQuery(historyQuery(bind));
  const all = (
    <Link className="small" to="/audit" search={{ resource: 'binds', resourceId: bind.id }}>
      All changes in the audit log
    </Link>
  );
  return (
    <Panel title="Timeline" aside={all}>
      <Loaded query={events} what="the timeline">
        {({ data }) => (
          <Loaded query={audit} what="the timeline">
            {({ pages }) => (
              <Entries
                of={historyOf(
                  data,
                  pages.flatMap((page) => page.data),
                )}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </Panel>
  );
}

function Entries({ of }: { readonly of: readonly HistoryEntry[] }): JSX.Element {
  const [shown, setShown] = useState(PART);
  if (of.length === 0)
    return <Empty title="Nothing has happened yet">A gateway connects within two seconds of a change.</Empty>;
  return (
    <>
      <ol className="history">
        {of.slice(0, shown).map((entry, index) => (
          <Line key={`${entry.at} ${String(index)}`} entry={entry} />
        ))}
      </ol>
      {of.length > shown && <Button onPress={() => setShown(shown + PART)}>Show earlier ones</Button>}
      <p className="soft small">The last 50 events of each connection are kept; a repeated error is counted.</p>
    </>
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
