import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { isAtLeast, meQuery } from '../api/session.js';
import { Button } from '../ui/button.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Badge, Facts, Page, Panel } from '../ui/layout.js';
import { Failure, Loaded } from '../ui/states.js';
import { CopyText, Phone } from '../ui/texts.js';
import { Time } from '../ui/time.js';
import { FATE_TONES, fateName, type Message, messageQuery, reveal } from './message-queries.js';

const route = getRouteApi('/shell/messages/$id');
type Attempt = NonNullable<Message['attemptLog']>[number];

export function MessagePage(): JSX.Element {
  const { id } = route.useParams();
  const query = useQuery(messageQuery(id));
  const fate = query.data?.fate;
  return (
    <Page
      title="Message"
      above={
        <Link className="back-link" to="/messages">
          ← Messages
        </Link>
      }
      aside={fate !== undefined && <Badge tone={FATE_TONES[fate]}>{fateName(fate)}</Badge>}
      lead={<CopyText text={id} name="the id" />}
    >
      <Loaded query={query} what="the message">
        {(message) => <Parts message={message} />}
      </Loaded>
    </Page>
  );
}

const Parts = ({ message }: { readonly message: Message }): JSX.Element => {
  const { direction, source, destination, carrier, networkError, smscMessageId, sessionId, attemptLog } = message;
  return (
    <>
      <Panel title="Details">
        <Facts
          of={[
            ['Direction', direction === 'in' ? 'from a phone' : 'to a phone'],
            ['From', <Phone key="from" number={source} mayReveal={direction === 'in'} />],
            ['To', <Phone key="to" number={destination} mayReveal={direction === 'out'} />],
            ['Carrier', carrier ?? '–'],
            ['Time', <Time key="at" at={message.at} />],
            ['Submitted', <Time key="submitted" at={message.submittedAt} />],
            ['Ended', <Time key="ended" at={message.endedAt} />],
            ['Error', networkError ?? 'none'],
            ['Carrier’s id', smscMessageId ?? '–'],
          ]}
        />
        {sessionId !== null && (
          <p className="small">
            <Link to="/sessions/$id" params={{ id: sessionId }}>
              Session of this message
            </Link>
          </p>
        )}
      </Panel>
      <Text id={message.id} />
      {attemptLog !== undefined && attemptLog.length > 0 && (
        <Panel title="Attempts">
          <DataTable label="Attempts" columns={ATTEMPTS} rows={attemptLog} keyOf={({ attempt }) => String(attempt)} />
        </Panel>
      )}
    </>
  );
};

const ATTEMPTS: readonly Column<Attempt>[] = [
  { name: 'Attempt', cell: ({ attempt }) => <strong>{attempt}</strong> },
  { name: 'Outcome', cell: ({ outcome }) => outcome ?? 'in progress' },
  { name: 'Status', cell: ({ commandStatus, error }) => commandStatus ?? error ?? '–' },
  { name: 'Bind or system', cell: ({ linkName }) => linkName ?? '–' },
  { name: 'Sender', cell: ({ source }) => source ?? '–' },
  { name: 'Submitted', cell: ({ submittedAt }) => <Time at={submittedAt} /> },
  { name: 'Answered', cell: ({ answeredAt }) => <Time at={answeredAt} /> },
];

/** The text, after a question: the audit log records who read it. */
function Text({ id }: { readonly id: string }): JSX.Element | null {
  const { data: me } = useSuspenseQuery(meQuery);
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => reveal(id) });
  if (me === null || !isAtLeast(me.role, 'support')) return null;
  return (
    <Panel
      title="Text"
      aside={
        data === undefined && (
          <Button isDisabled={isPending} onPress={() => mutate()}>
            Reveal the text
          </Button>
        )
      }
    >
      {error !== null && <Failure error={error} />}
      {data === undefined ? (
        <p className="soft">
          Hidden. Reading it is recorded in the audit log. Most roles do not see the digits of codes.
        </p>
      ) : (
        <p className="json">
          {data.text ?? 'The text was erased: that happens when its session or its delivery ends.'}
        </p>
      )}
    </Panel>
  );
}
