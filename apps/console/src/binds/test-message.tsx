import { type JSX, useState } from 'react';
import { api, dataOf, type Schemas } from '../api/client.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { InputField } from '../ui/fields.js';
import { FormDialog } from '../ui/form-dialog.js';
import { type FormValues, given } from '../ui/form-values.js';
import { Badge, Facts, Panel, type Tone } from '../ui/layout.js';
import { useIsAtLeast } from '../ui/role.js';
import { Time } from '../ui/time.js';
import type { Bind } from './bind-queries.js';

type Answer = Schemas['TestMessageAnswer'];

const STATES: Readonly<Record<Answer['state'], { readonly tone: Tone; readonly text: string }>> = {
  accepted: { tone: 'good', text: 'accepted' },
  refused: { tone: 'bad', text: 'refused' },
  unanswered: { tone: 'warn', text: 'unanswered' },
  not_sent: { tone: 'bad', text: 'not sent' },
};

/** A message with a fixed text over this bind, for operators and owners, and what became of the last one. */
export function TestMessage({ bind }: { readonly bind: Bind }): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const { mutate, data, error, isPending } = useAct({
    run: (values: FormValues) => {
      const body = given({ to: values.text('to'), from: values.textOrNull('from') ?? undefined });
      return dataOf(api.POST('/v1/admin/binds/{id}/test-messages', { params: { path: { id: bind.id } }, body }));
    },
    done: ({ state }) => {
      setOpen(false);
      return `The test message is ${STATES[state].text}.`;
    },
  });
  if (!useIsAtLeast('operator')) return null;
  const send = (
    <Button kind="tonal" isDisabled={!bind.enabled || bind.bindType === 'receiver'} onPress={() => setOpen(true)}>
      Send a test message
    </Button>
  );
  return (
    <Panel title="Test message" aside={send}>
      {data === undefined ? (
        <p className="soft">One SMS with a fixed text over this bind, whatever the routes say.</p>
      ) : (
        <Result of={data} />
      )}
      {isOpen && (
        <FormDialog
          title={`Send a test message over ${bind.name}`}
          act={isPending ? 'Sending…' : 'Send'}
          lead="It costs what a code costs, and is in the audit log. The carrier’s response comes within 20 seconds."
          error={error}
          isPending={isPending}
          onSubmit={mutate}
          onClose={() => setOpen(false)}
        >
          <InputField name="to" label="To" placeholder="+14155552671" isRequired />
          <InputField name="from" label="From" hint="Empty: the number to which a phone of the country would send." />
        </FormDialog>
      )}
    </Panel>
  );
}

const Result = ({ of }: { readonly of: Answer }): JSX.Element => {
  const { state, error, smscMessageId, slot, sentAt, answeredAt, from, text } = of;
  const { tone, text: name } = STATES[state];
  return (
    <>
      <p role="status">
        <Badge tone={tone}>{name}</Badge> {error}
      </p>
      <p className="soft">{text}</p>
      <Facts
        of={[
          ['Sent', <Time key="sent" at={sentAt} />],
          ['Answered', <Time key="answered" at={answeredAt} />],
          ['Connection', slot ?? '–'],
          ['Carrier’s id', smscMessageId === null ? '–' : <code key="id">{smscMessageId}</code>],
          ['From', from],
        ]}
      />
    </>
  );
};
