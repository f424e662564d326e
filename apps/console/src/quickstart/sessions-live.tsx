import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { useScope } from '../account/scope.js';
import { Badge, type Tone } from '../ui/layout.js';
import { Empty, Failure, Loading } from '../ui/states.js';
import { CopyText, Phone } from '../ui/texts.js';
import { Ago } from '../ui/time.js';
import { duration } from '../ui/times.js';
import { latestQuery, type Session, smsOf } from './quickstart-queries.js';

const TONES: Readonly<Record<Session['status'], Tone>> = {
  pending: 'accent',
  approved: 'good',
  denied: 'bad',
  expired: 'warn',
  cancelled: 'quiet',
};

/** The latest sessions of the account in the present mode, as they change. */
export function SessionsLive({ apiKey }: { readonly apiKey: string | undefined }): JSX.Element {
  const scope = useScope();
  const { data, error, refetch } = useQuery(latestQuery(scope, apiKey));
  if (scope.isOwner && apiKey === undefined)
    return (
      <Empty title="Make the key first">
        With it this page shows sessions as they change. Those of every account are under{' '}
        <Link to="/sessions">Sessions</Link>.
      </Empty>
    );
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="sessions" />;
  if (data.length === 0)
    return (
      <Empty title="Waiting for a first session">Run the code, or press the button. It appears here by itself.</Empty>
    );
  return (
    <ol className="live" aria-label="Latest sessions" aria-live="polite">
      {data.map((session) => (
        <Row key={session.id} session={session} />
      ))}
    </ol>
  );
}

function Row({ session }: { readonly session: Session }): JSX.Element {
  const { id, status, channel, phone, createdAt, latencyMs, test } = session;
  const sms = status === 'pending' && test !== true ? smsOf(session) : null;
  return (
    <li data-status={status}>
      <div className="live-row">
        <Badge tone={TONES[status]}>{status}</Badge>
        <Phone number={phone} />
        <span className="soft">{channel === 'rcs' ? 'by card' : 'by SMS'}</span>
        {latencyMs !== null && <strong>{duration(latencyMs)}</strong>}
      </div>
      <div className="live-row">
        <CopyText text={id} name="the id" />
        <span className="soft small live-when">
          <Ago at={createdAt} />
        </span>
      </div>
      {sms !== null && (
        <p className="small">
          Send this from the phone to <code>{sms.number}</code> (with <code>npm start</code>: on the page{' '}
          <code>phoneUrl</code>): <CopyText text={sms.text} name="the text" />
        </p>
      )}
    </li>
  );
}
