import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { Button } from '../ui/button.js';
import { Badge, Facts, Page, Panel, type Tone } from '../ui/layout.js';
import { Empty, Loaded } from '../ui/states.js';
import { CopyText, Json, Phone, withMasked } from '../ui/texts.js';
import { Time } from '../ui/time.js';
import { duration, localTime, utcTime } from '../ui/times.js';
import { isAccepted } from '../webhook/delivery-tone.js';
import {
  CHANNELS,
  type Session,
  sessionQuery,
  STATUS_TONES,
  type Timeline,
  timelineQuery,
  wayOf,
} from './session-queries.js';
import './sessions.css';

const route = getRouteApi('/shell/sessions/$id');

export function SessionPage(): JSX.Element {
  const { id } = route.useParams();
  const session = useQuery(sessionQuery(id));
  const timeline = useQuery(timelineQuery(id, session.data?.status === 'pending'));
  const { status, test } = session.data ?? {};
  const above = (
    <Link className="back-link" to="/sessions">
      ← Sessions
    </Link>
  );
  const aside = status !== undefined && (
    <>
      <Badge tone={STATUS_TONES[status]}>{status}</Badge>
      {test === true && <Badge tone="warn">test</Badge>}
    </>
  );
  return (
    <Page title="Session" above={above} aside={aside} lead={<CopyText text={id} name="the id" />}>
      <div className="session">
        <Panel
          title="Timeline"
          aside={
            <Button onPress={() => void timeline.refetch()}>{timeline.isFetching ? 'Reading…' : 'Refresh'}</Button>
          }
        >
          <Loaded query={session.data === undefined ? { ...timeline, data: undefined } : timeline} what="the timeline">
            {(shown) => <Entries timeline={shown} phone={session.data?.phone} />}
          </Loaded>
        </Panel>
        <Panel title="Details">
          <Loaded query={session} what="the session">
            {(shown) => <SessionFacts session={shown} />}
          </Loaded>
        </Panel>
      </div>
    </Page>
  );
}

interface EntriesProps {
  readonly timeline: Timeline;
  /** Masked in all texts; not known before the session was read. */
  readonly phone: string | undefined;
}

function Entries({ timeline: { data, truncated }, phone }: EntriesProps): JSX.Element {
  const first = data[0];
  if (first === undefined) return <Empty title="Nothing has happened yet">Entries appear within 5 seconds.</Empty>;
  const start = Date.parse(first.at);
  return (
    <>
      <ol className="timeline">
        {data.map((entry, index) => (
          <li key={`${entry.at} ${entry.type} ${String(index)}`} data-source={entry.source} data-tone={toneOf(entry)}>
            <div className="entry-head">
              <strong>{withMasked(entry.summary, phone)}</strong>
              <time dateTime={entry.at} title={`${localTime(entry.at)} · ${utcTime(entry.at)}`}>
                {index === 0 ? localTime(entry.at) : `+${duration(Date.parse(entry.at) - start)}`}
              </time>
            </div>
            <Details of={entry} phone={phone} />
          </li>
        ))}
      </ol>
      {truncated && <p className="soft small">More happened than the 500 entries that are shown.</p>}
    </>
  );
}

/** Of the entries that decide: the end of the session, and a webhook that was not accepted. */
function toneOf({ type, details }: Timeline['data'][number]): Tone | undefined {
  if (type === 'webhook.attempt') {
    return isAccepted({ status: Number(details['status'] ?? 0) }) ? undefined : 'bad';
  }
  return ENDS[type];
}

const ENDS: Readonly<Partial<Record<string, Tone>>> = {
  'session.approved': 'good',
  'session.denied': 'bad',
  'session.expired': 'warn',
};

interface DetailsProps {
  readonly of: Timeline['data'][number];
  readonly phone: string | undefined;
}

const Details = ({ of: { type, source, details }, phone }: DetailsProps): JSX.Element => (
  <details>
    <summary className="soft small">
      <code>{type}</code> · {source}
    </summary>
    {Object.keys(details).length === 0 ? (
      <p className="soft small">No details.</p>
    ) : (
      <Json value={details} label={`Details of ${type}`} phone={phone} />
    )}
  </details>
);

function SessionFacts({ session }: { readonly session: Session }): JSX.Element {
  const { phone, country, brandSlug, accountId, channel, latencyMs, inboundNumber, metadata, card } = session;
  return (
    <>
      <Facts
        of={[
          ['Phone', <Phone key="phone" number={phone} mayReveal />],
          ['Country', country],
          ['Brand', brandSlug],
          ['Channel', CHANNELS[channel]],
          ['Approved by', wayOf(session)],
          ['Time to approve', latencyMs === null ? '–' : duration(latencyMs)],
          ['Created', <Time key="created" at={session.createdAt} />],
          ['Expires', <Time key="expires" at={session.expiresAt} />],
          ['Ended', <Time key="ended" at={session.endedAt} />],
          ['Number to text', inboundNumber],
          ['Codes', `${String(session.codesSent)} sent, ${String(session.codesTried)} tried`],
          ['Card', card === null ? 'none' : `${card.state}${card.reason === null ? '' : `, ${card.reason}`}`],
          ['Account', <CopyText key="account" text={accountId} name="the account’s id" />],
        ]}
      />
      {Object.keys(metadata).length > 0 && (
        <div className="stack">
          <h3>Metadata</h3>
          <Json value={metadata} label="Metadata" />
        </div>
      )}
      <p className="small">
        <Link to="/messages" search={{ sessionId: session.id }}>
          Messages of this session
        </Link>
      </p>
    </>
  );
}
