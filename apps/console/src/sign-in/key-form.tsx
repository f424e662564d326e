import { type JSX, useState } from 'react';
import { Fault } from './fault.js';
import { keyFault } from './faults.js';
import { type SecondStep, signInWithKey, useOpened } from './sign-in-queries.js';
import { Submit } from './submit.js';

interface KeyFormProps {
  readonly onSecondStep: (step: SecondStep) => void;
}

export function KeyForm({ onSecondStep }: KeyFormProps): JSX.Element {
  const [fault, setFault] = useState<string | null>(null);
  const opened = useOpened();
  const send = async (form: FormData): Promise<void> => {
    setFault(null);
    const key = form.get('key');
    try {
      const answer = await signInWithKey(typeof key === 'string' ? key.trim() : '');
      if ('csrfToken' in answer) opened(answer);
      else onSecondStep(answer);
    } catch (error) {
      setFault(keyFault(error));
    }
  };
  return (
    <form action={send}>
      <label className="field">
        <span>Admin key</span>
        <input
          name="key"
          type="password"
          autoComplete="off"
          placeholder="csk_admin_…"
          required
          aria-describedby="key-fault"
        />
      </label>
      <Fault id="key-fault" text={fault} />
      <Submit text="Sign in" pendingText="Signing in…" />
      <p className="small soft">
        An owner gives you the key. The browser keeps a session of twelve hours, not the key. Running{' '}
        <code>npm start</code>? Open the <code>consoleUrl</code> that it prints.
      </p>
    </form>
  );
}
