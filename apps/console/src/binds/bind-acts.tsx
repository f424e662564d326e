import { useSuspenseQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { isAtLeast, meQuery } from '../api/session.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { act, type Bind, type BindAct } from './bind-queries.js';

const NAMES: Readonly<Record<BindAct, string>> = {
  enable: 'Enable',
  disable: 'Disable',
  drain: 'Drain',
  reconnect: 'Reconnect',
};

/** The consequence of an act that stops traffic. */
const WARNINGS: Readonly<Partial<Record<BindAct, string>>> = {
  disable: 'Its connections unbind at once. Codes take other routes; SMS from phones wait at the carrier.',
  drain: 'Its connections finish what they have sent, unbind, and stay disabled until you enable the bind.',
  reconnect: 'Its connections unbind and bind again, one after the other. It takes some seconds.',
};

const RESULTS: Readonly<Record<BindAct, string>> = {
  enable: 'is enabled; gateways connect within 2 s',
  disable: 'is disabled',
  drain: 'drains, then stays disabled',
  reconnect: 'reconnects',
};

/** The buttons of a bind, for operators and owners. */
export function BindActs({ bind }: { readonly bind: Bind }): JSX.Element | null {
  const { data: me } = useSuspenseQuery(meQuery);
  const [asked, setAsked] = useState<BindAct | null>(null);
  const { mutate, isPending } = useAct({
    run: (name: BindAct) => act(bind.id, name),
    done: (_, name) => `${bind.name} ${RESULTS[name]}.`,
    changes: ['binds'],
  });
  if (me === null || !isAtLeast(me.role, 'operator')) return null;
  const acts: readonly BindAct[] = bind.enabled ? ['reconnect', 'drain', 'disable'] : ['enable'];
  return (
    <>
      {acts.map((name) => (
        <Button
          key={name}
          kind={name === 'enable' ? 'solid' : 'quiet'}
          isDisabled={isPending}
          onPress={() => (WARNINGS[name] === undefined ? mutate(name) : setAsked(name))}
        >
          {NAMES[name]}
        </Button>
      ))}
      {asked !== null && (
        <Confirm
          title={`${NAMES[asked]} ${bind.name}?`}
          act={NAMES[asked]}
          isDangerous={asked !== 'reconnect'}
          onConfirm={() => mutate(asked)}
          onClose={() => setAsked(null)}
        >
          <p className="soft">{WARNINGS[asked]}</p>
        </Confirm>
      )}
    </>
  );
}
