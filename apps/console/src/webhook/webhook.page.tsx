import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type JSX, useMemo, useState } from 'react';
import { keyOf, useScope } from '../account/scope.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import type { Column } from '../ui/data-table.js';
import { Badge, Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { Empty, Loaded } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { DeliveryPanel } from './delivery.js';
import { deliveryTone } from './delivery-tone.js';
import { Secret } from './secret.js';
import { Settings } from './settings.js';
import { deliveriesQuery, type Delivery, sendTest, webhookQuery } from './webhook-queries.js';
import './webhook.css';

const columnsFor = (open: (id: string) => void): readonly Column<Delivery>[] => [
  {
    name: 'Event',
    value: ({ type }) => type,
    cell: ({ id, type }) => (
      <button type="button" className="link" onClick={() => open(id)}>
        {type}
      </button>
    ),
  },
  {
    name: 'State',
    value: ({ status }) => status,
    cell: (row) => <Badge tone={deliveryTone(row.status, row.attempts.length)}>{row.status}</Badge>,
  },
  { name: 'Attempts', align: 'end', value: ({ attempts }) => attempts.length, cell: ({ attempts }) => attempts.length },
  {
    name: 'Last result',
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      return last === undefined ? <span className="soft">–</span> : (last.error ?? last.status ?? 'no answer');
    },
  },
  { name: 'Last attempt', cell: ({ attempts }) => <Ago at={attempts.at(-1)?.at ?? null} /> },
  { name: 'URL', value: ({ url }) => url, cell: ({ url }) => <span className="url webhook-url small">{url}</span> },
];

/** Where events go, the secret that signs them, a test, and the attempts to deliver. */
export function WebhookPage(): JSX.Element {
  const scope = useScope();
  const webhook = useQuery(webhookQuery(scope));
  const deliveries = useInfiniteQuery(deliveriesQuery(scope));
  const [openId, setOpenId] = useState<string | null>(null);
  const columns = useMemo(() => columnsFor(setOpenId), []);
  const test = useAct({
    run: () => sendTest(scope),
    done: ({ id }) => {
      setOpenId(id);
      return 'A webhook.test is on its way.';
    },
    changes: keyOf(scope, 'deliveries'),
  });
  const { testWebhookUrl = null, defaultWebhookUrl = null } = webhook.data ?? {};
  const url = scope.mode === 'test' ? testWebhookUrl : defaultWebhookUrl;
  return (
    <Page
      title="Webhook"
      lead="Your server hears about every verification by a signed POST, at least once, with retries for a day."
      actions={
        scope.mayChange && (
          <>
            {webhook.data !== undefined && url === null && <span className="soft small">Save a URL first.</span>}
            <Button kind="solid" isDisabled={url === null || test.isPending} onPress={() => test.mutate(undefined)}>
              Send a test
            </Button>
          </>
        )
      }
    >
      <div className="webhook-grid">
        <Loaded query={webhook} what="the webhook">
          {(data) => <Settings of={data} />}
        </Loaded>
        <Secret />
      </div>
      {openId !== null && <DeliveryPanel id={openId} onClose={() => setOpenId(null)} />}
      <div className="panel-head">
        <h2>Deliveries</h2>
        <Button onPress={() => void deliveries.refetch()}>{deliveries.isRefetching ? 'Reading…' : 'Refresh'}</Button>
      </div>
      <ListingTable
        query={deliveries}
        what="deliveries"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No delivery yet">
            {url === null
              ? 'Save a URL above, then send a test to it.'
              : 'Send a test, or approve a session: its event appears here with every attempt.'}
          </Empty>
        }
      />
    </Page>
  );
}
