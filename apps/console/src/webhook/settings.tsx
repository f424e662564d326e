import type { JSX } from 'react';
import { type AccountScope, keyOf, useScope } from '../account/scope.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { TextField } from '../ui/filters.js';
import { Panel } from '../ui/layout.js';
import { Failure } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { changeWebhook, type Webhook } from './webhook-queries.js';

type Event = Webhook['webhookEvents'][number];

/** Events that an account chooses. `verification.completed` always goes out. */
const EVENTS = [
  ['verification.denied', 'somebody tapped Deny'],
  ['verification.expired', 'nobody answered in time'],
  ['verification.cancelled', 'your server cancelled it'],
  ['verification.sender_mismatch', 'another number sent the text'],
  ['verification.otp_delivery', 'the carrier reported on a code by SMS'],
] as const satisfies readonly (readonly [Event, string])[];

const isEvent = (value: unknown): value is Event => EVENTS.some(([event]) => event === value);

/** A developer in test mode changes the test URL alone: the rest concerns live sessions. */
function changeOf({ mode }: AccountScope, form: FormData): Parameters<typeof changeWebhook>[1] {
  const value = form.get('url');
  const url = typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
  if (mode === 'test') return { testWebhookUrl: url };
  return { defaultWebhookUrl: url, webhookEvents: form.getAll('events').filter(isEvent) };
}

/** Where events of the present mode go. */
export function Settings({ of: webhook }: { readonly of: Webhook }): JSX.Element {
  const scope = useScope();
  const isTest = scope.mode === 'test';
  const { mutate, error, isPending } = useAct({
    run: (form: FormData) => changeWebhook(scope, changeOf(scope, form)),
    done: () => 'Saved. It takes effect everywhere within 5 s.',
    changes: keyOf(scope, 'webhook'),
  });
  const submit = (event: React.SyntheticEvent<HTMLFormElement>): void => {
    event.preventDefault();
    mutate(new FormData(event.currentTarget));
  };
  const url = isTest ? webhook.testWebhookUrl : (webhook.defaultWebhookUrl ?? null);
  return (
    <Panel title={isTest ? 'URL of test sessions' : 'URL of live sessions'}>
      <form className="stack" onSubmit={submit}>
        <TextField
          name="url"
          label="URL, used unless a session has its own"
          value={url ?? ''}
          placeholder="https://example.com/webhooks"
        />
        {webhook.defaultWebhookDisabledAt !== undefined && (
          <p className="notice" data-tone="warn">
            Disabled since <Time at={webhook.defaultWebhookDisabledAt} />: {webhook.defaultWebhookDisabledReason}. Save
            the URL to enable it again.
          </p>
        )}
        <fieldset className="choices" disabled={isTest}>
          <legend>Events to send in addition to verification.completed{isTest ? ', chosen in live mode' : ''}</legend>
          {EVENTS.map(([event, what]) => (
            <label className="choice" key={event}>
              <input
                type="checkbox"
                name="events"
                value={event}
                key={String(webhook.webhookEvents.includes(event))}
                defaultChecked={webhook.webhookEvents.includes(event)}
              />
              <span>
                <code>{event}</code>
              </span>
              <small>{what}</small>
            </label>
          ))}
        </fieldset>
        {error !== null && <Failure error={error} />}
        {scope.mayChange && (
          <div>
            <Button type="submit" kind="solid" isDisabled={isPending}>
              Save
            </Button>
          </div>
        )}
      </form>
    </Panel>
  );
}
