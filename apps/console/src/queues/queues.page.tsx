import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { api, dataOf } from '../api/client.js';
import { isAtLeast, meQuery } from '../api/session.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { Badge, Facts, Page } from '../ui/layout.js';
import { Loaded } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { duration } from '../ui/times.js';
import { type Queue, queuesQuery } from './queue-queries.js';
import './queues.css';

const TITLES: Readonly<Record<Queue['name'], readonly [title: string, text: string]>> = {
  webhooks: ['Webhooks', 'Deliveries to the servers of accounts.'],
  outbound: ['Codes', 'SMS with codes on their way to carriers.'],
  cards: ['Cards', 'RCS cards and their commands.'],
};
/** Jobs that wait longer are shown as late. */
const LATE_SECONDS = 30;

const ACTS = {
  pause: (id: string) => api.POST('/v1/admin/queues/{id}/pause', { params: { path: { id } } }),
  resume: (id: string) => api.POST('/v1/admin/queues/{id}/resume', { params: { path: { id } } }),
  retry: (id: string) => api.POST('/v1/admin/queues/{id}/retry-failed', { params: { path: { id } } }),
} as const;
type Act = keyof typeof ACTS;

function resultOf({ name, retried = 0 }: Queue, act: Act): string {
  const [title] = TITLES[name];
  if (act === 'retry') return `${title}: ${String(retried)} failed jobs are queued again.`;
  return act === 'pause' ? `${title} is paused.` : `${title} runs again.`;
}

function QueueActs({ queue }: { readonly queue: Queue }): JSX.Element | null {
  const { data: me } = useSuspenseQuery(meQuery);
  const [isAsked, setAsked] = useState(false);
  const { mutate, isPending } = useAct({
    run: (act: Act) => dataOf(ACTS[act](queue.name)),
    done: resultOf,
    changes: ['queues'],
  });
  if (me === null || !isAtLeast(me.role, 'operator')) return null;
  const [title] = TITLES[queue.name];
  return (
    <div className="page-actions">
      {queue.paused ? (
        <Button kind="solid" isDisabled={isPending} onPress={() => mutate('resume')}>
          Resume
        </Button>
      ) : (
        <Button isDisabled={isPending} onPress={() => setAsked(true)}>
          Pause
        </Button>
      )}
      {queue.counts.failed > 0 && (
        <Button kind="tonal" isDisabled={isPending} onPress={() => mutate('retry')}>
          Retry failed
        </Button>
      )}
      {isAsked && (
        <Confirm
          title={`Pause ${title.toLowerCase()}?`}
          act="Pause"
          isDangerous
          onConfirm={() => mutate('pause')}
          onClose={() => setAsked(false)}
        >
          <p className="soft">New jobs wait until you resume the queue. Codes that wait too long fail.</p>
        </Confirm>
      )}
    </div>
  );
}

function QueueCard({ queue }: { readonly queue: Queue }): JSX.Element {
  const { name, paused, pausedAt, counts, oldestAgeSeconds: age } = queue;
  const [title, text] = TITLES[name];
  const isLate = age !== null && age > LATE_SECONDS;
  return (
    <li className="queue panel">
      <div className="panel-head">
        <h2>{title}</h2>
        {paused ? (
          <Badge tone="warn">paused</Badge>
        ) : (
          <Badge tone={isLate ? 'bad' : 'good'}>{isLate ? 'late' : 'running'}</Badge>
        )}
      </div>
      <p className="soft">
        {text}{' '}
        {paused && (
          <>
            Paused <Ago at={pausedAt} />.
          </>
        )}
      </p>
      <Facts
        of={[
          ['Waiting', counts.waiting.toLocaleString('en')],
          ['In progress', counts.inFlight.toLocaleString('en')],
          ['Failed', counts.failed.toLocaleString('en')],
          ['Oldest job is due for', age === null ? '–' : duration(age * 1_000)],
        ]}
      />
      <QueueActs queue={queue} />
    </li>
  );
}

export function QueuesPage(): JSX.Element {
  const query = useQuery(queuesQuery);
  return (
    <Page
      title="Queues"
      lead="Jobs between the API and the gateways. In a healthy queue no job is due for more than a few seconds. Refreshed every 5 seconds."
    >
      <Loaded query={query} what="the queues">
        {(queues) => (
          <ul className="queues" aria-label="Queues">
            {queues.map((queue) => (
              <QueueCard queue={queue} key={queue.name} />
            ))}
          </ul>
        )}
      </Loaded>
    </Page>
  );
}
