import { type JSX, useState } from 'react';
import type { Me } from '../api/session.js';
import { Button } from '../ui/button.js';
import { Fault } from './fault.js';
import { codeFault } from './faults.js';
import { type ApprovalPath, checkCode, sendCode } from './sign-in-queries.js';
import { Submit } from './submit.js';

interface CodeFormProps {
  readonly path: ApprovalPath;
  readonly onOpened: (me: Me) => void;
}

/** The other way to approve: a code that is sent to the phone. */
export function CodeForm({ path, onOpened }: CodeFormProps): JSX.Element {
  const [isSent, setSent] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const trying = async (work: () => Promise<void>): Promise<void> => {
    setFault(null);
    try {
      await work();
    } catch (error) {
      setFault(codeFault(error));
    }
  };
  const send = (): void =>
    void trying(async () => {
      await sendCode(path);
      setSent(true);
    });
  const check = (form: FormData): Promise<void> =>
    trying(async () => {
      const code = form.get('code');
      onOpened(await checkCode(path, typeof code === 'string' ? code.trim() : ''));
    });
  return (
    <div className="code-form">
      {isSent ? (
        <form action={check}>
          <p className="small soft">
            A code is on its way, if this is the phone of a member. It is valid until this sign-in ends.
          </p>
          <label className="field">
            <span>Code</span>
            <input
              name="code"
              inputMode="numeric"
              autoComplete="one-time-code"
              pattern="[0-9]{6}"
              maxLength={6}
              placeholder="123456"
              required
              aria-describedby="code-fault"
            />
          </label>
          <Submit text="Check the code" pendingText="Checking…" />
        </form>
      ) : (
        <p className="small soft code-offer">
          Cannot send an SMS from it?{' '}
          <Button kind="plain" onPress={send}>
            Get a code by SMS
          </Button>
        </p>
      )}
      <Fault id="code-fault" text={fault} />
      {isSent && (
        <Button kind="plain" onPress={send}>
          Send another code
        </Button>
      )}
    </div>
  );
}
