import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Badge, Facts, Page, Panel } from '../ui/layout.js';
import { AccountName } from '../ui/names.js';
import { useIsAtLeast } from '../ui/role.js';
import { Empty, Loaded } from '../ui/states.js';
import { CopyText, Json } from '../ui/texts.js';
import { Ago, Time } from '../ui/time.js';
import { duration } from '../ui/times.js';
import { deliveryTone, isAccepted } from '../webhook/delivery-tone.js';
import { type Attempt, type DeliveryDetail, deliveryQuery, resultOf, retryDelivery } from './delivery-queries.js';

const route = getRouteApi('/shell/webhooks/$id');

function Retry({ id }: { readonly id: string }): JSX.Element | null {
  const { mutate, isPending } = useAct({
    run: () => retryDelivery(id),
    done: () => 'One more attempt is made now.',
    changes: ['deliveries'],
  });
  if (!useIsAtLeast('operator')) return null;
  return (
    <Button kind="tonal" isDisabled={isPending} onPress={() => mutate()}>
      Send again
    </Button>
  );
}

export function DeliveryPage(): JSX.Element {
  const { id } = route.useParams();
  const query = useQuery(deliveryQuery(id));
  const { test, type } = query.data ?? {};
  return (
    <Page
      title={type ?? 'Webhook'}
      above={
        <Link className="back-link" to="/webhooks">
          ← Webhooks
        </Link>
      }
      aside={
        query.data !== undefined && (
          <>
            <Badge tone={deliveryTone(query.data.status, query.data.attemptsMade)}>{query.data.status}</Badge>
            {test === true && <Badge tone="warn">test</Badge>}
          </>
        )
      }
      lead={<CopyText text={id} name="the id" />}
      actions={
        <>
          <Button onPress={() => void query.refetch()}>{query.isFetching ? 'Reading…' : 'Refresh'}</Button>
          {query.data !== undefined && <Retry id={id} />}
        </>
      }
    >
      <Loaded query={query} what="the delivery">
        {(delivery) => <Parts delivery={delivery} />}
      </Loaded>
    </Page>
  );
}

const COLUMNS: readonly Column<Attempt & { readonly number: number }>[] = [
  { name: 'Attempt', cell: ({ number }) => <strong>{number}</strong> },
  { name: 'Time', cell: ({ at }) => <Time at={at} /> },
  {
    name: 'Result',
    cell: (attempt) => {
      return <Badge tone={isAccepted(attempt) ? 'good' : 'bad'}>{resultOf(attempt)}</Badge>;
    },
  },
  { name: 'Took', align: 'end', cell: ({ latencyMs }) => duration(latencyMs) },
];

/** The phone of a posted session, which is masked in the body. */
function phoneOf(body: DeliveryDetail['body']): string | undefined {
  const data = body?.['data'];
  const phone = typeof data === 'object' && data !== null ? (Reflect.get(data, 'phone') as unknown) : undefined;
  return typeof phone === 'string' ? phone : undefined;
}

const Parts = ({ delivery }: { readonly delivery: DeliveryDetail }): JSX.Element => {
  const { attempts, body, sessionId } = delivery;
  return (
    <>
      <Panel title="Details">
        <Facts
          of={[
            [
              'To',
              <span className="mono" key="url">
                {delivery.url}
              </span>,
            ],
            ['Account', <AccountName key="account" id={delivery.accountId} />],
            [
              'Session',
              sessionId === null ? (
                '–'
              ) : (
                <Link key="session" to="/sessions/$id" params={{ id: sessionId }}>
                  Open
                </Link>
              ),
            ],
            ['Next attempt', <Ago key="next" at={delivery.nextAttemptAt} />],
            ['Event id', <CopyText key="event" text={delivery.eventId} name="the event’s id" />],
          ]}
        />
      </Panel>
      <Panel title="Attempts">
        {attempts.length === 0 ? (
          <Empty title="No attempt yet">The first one is made within a second, unless webhooks are paused.</Empty>
        ) : (
          <DataTable
            label="Attempts"
            columns={COLUMNS}
            rows={attempts.map((attempt, index) => ({ ...attempt, number: index + 1 })).toReversed()}
            keyOf={({ number }) => String(number)}
          />
        )}
      </Panel>
      <Panel title="Body">
        {body === null ? (
          <p className="soft">Bodies are kept from the first attempt until 72 hours after the end.</p>
        ) : (
          <Json value={body} label="JSON of the body" phone={phoneOf(body)} />
        )}
      </Panel>
    </>
  );
};
