import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { keyOf, useScope } from '../account/scope.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { Badge, Facts, Panel } from '../ui/layout.js';
import { Loaded } from '../ui/states.js';
import { CopyText, Json } from '../ui/texts.js';
import { Ago, Time } from '../ui/time.js';
import { deliveryTone } from './delivery-tone.js';
import { type Delivery, deliveryQuery, retryDelivery } from './webhook-queries.js';

/** The likely causes of results that are no success. */
const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens at that host and port.',
  ENOTFOUND: 'The host has no address.',
  ETIMEDOUT: 'The receiver did not answer in time: answer first, then work.',
  blocked: 'The URL leads to an address that webhooks may not go to.',
};

/** The phone in a posted session. */
function phoneIn({ body }: Delivery): string | undefined {
  const data: unknown = body?.['data'];
  const phone: unknown = typeof data === 'object' && data !== null && 'phone' in data ? data.phone : undefined;
  return typeof phone === 'string' ? phone : undefined;
}

const adviceOf = ({ status, attempts }: Delivery): string | undefined => ADVICE[attempts.at(-1)?.error ?? status];

interface DeliveryPanelProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** A delivery with its attempts, followed until the first of them has a result. */
export function DeliveryPanel({ id, onClose }: DeliveryPanelProps): JSX.Element {
  const scope = useScope();
  const query = useQuery(deliveryQuery(scope, id));
  const retry = useAct({
    run: () => retryDelivery(scope, id),
    done: () => 'It is sent again, with the same webhook-id and the same bytes.',
    changes: keyOf(scope, 'deliveries'),
  });
  return (
    <Panel
      title="Delivery"
      aside={
        <span className="row">
          {scope.mayChange && (
            <Button
              isDisabled={retry.isPending}
              onPress={() => retry.mutate(undefined, { onSuccess: () => void query.refetch() })}
            >
              Send again
            </Button>
          )}
          <Button onPress={() => void query.refetch()}>Refresh</Button>
          <Button onPress={onClose}>Close</Button>
        </span>
      }
    >
      <Loaded query={query} what="the delivery">
        {(delivery) => <Shown delivery={delivery} />}
      </Loaded>
    </Panel>
  );
}

function Shown({ delivery }: { readonly delivery: Delivery }): JSX.Element {
  const { eventId, type, url, status, nextAttemptAt, body } = delivery;
  const advice = adviceOf(delivery);
  return (
    <>
      <Facts
        of={[
          ['State', <Badge tone={deliveryTone(status, delivery.attempts.length)}>{status}</Badge>],
          ['Next attempt', <Ago at={nextAttemptAt} />],
          ['Event', <span className="mono">{type}</span>],
          ['URL', <span className="mono">{url}</span>],
          ['webhook-id', <CopyText text={eventId} name="the webhook-id" />],
        ]}
      />
      {advice !== undefined && <p className="notice">{advice}</p>}
      <Attempts of={delivery} />
      {body !== null && <Json value={body} label="What is posted" phone={phoneIn(delivery)} />}
    </>
  );
}

const Attempts = ({ of: { attempts } }: { readonly of: Delivery }): JSX.Element =>
  attempts.length === 0 ? (
    <p className="soft">No attempt has ended yet.</p>
  ) : (
    <ol className="attempts" aria-label="Attempts">
      {attempts.map(({ at, status, latencyMs, error }, index) => (
        <li key={at}>
          <span className="soft">{index + 1}</span>
          <Badge tone={status !== null && status < 300 ? 'good' : 'bad'}>{error ?? status ?? 'no answer'}</Badge>
          <span>{latencyMs} ms</span>
          <span className="soft small">
            <Time at={at} />
          </span>
        </li>
      ))}
    </ol>
  );
