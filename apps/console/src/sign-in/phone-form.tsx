import { type JSX, useState } from 'react';
import { ApprovalStep } from './approval-step.js';
import { Fault } from './fault.js';
import { phoneFault } from './faults.js';
import { type Approval, beginWithPhone } from './sign-in-queries.js';
import { Submit } from './submit.js';

/** People write numbers with spaces and signs between the digits. */
const plain = (phone: string): string => phone.replaceAll(/[\s().\-/]/g, '').replace(/^00/, '+');

export function PhoneForm(): JSX.Element {
  const [fault, setFault] = useState<string | null>(null);
  const [phone, setPhone] = useState('');
  const [approval, setApproval] = useState<Approval | null>(null);
  const send = async (): Promise<void> => {
    setFault(null);
    try {
      setApproval(await beginWithPhone(plain(phone)));
    } catch (error) {
      setFault(phoneFault(error));
    }
  };
  if (approval !== null) {
    return (
      <ApprovalStep path="/sign-in/phone" approval={approval} phone={plain(phone)} onLeave={() => setApproval(null)} />
    );
  }
  return (
    <form action={send}>
      <label className="field">
        <span>Your phone number</span>
        <input
          name="phone"
          type="tel"
          inputMode="tel"
          autoComplete="tel"
          placeholder="+1 415 555 2671"
          required
          value={phone}
          onChange={(event) => setPhone(event.target.value)}
          aria-describedby="phone-fault"
        />
      </label>
      <Fault id="phone-fault" text={fault} />
      <Submit text="Continue" pendingText="One moment…" />
      <p className="small soft">
        For members of an account. You send one SMS from this phone, or enter a code that is sent to it.
      </p>
    </form>
  );
}
