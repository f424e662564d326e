import { useQuery } from '@tanstack/react-query';
import { type JSX, lazy, Suspense, useEffect } from 'react';
import { Button } from '../ui/button.js';
import { CodeForm } from './code-form.js';
import { type Approval, approvalQuery, type ApprovalPath, useOpened } from './sign-in-queries.js';

/** Loaded when it is shown: most people sign in without it. */
const QrCode = lazy(async () => ({ default: (await import('./qr-code.js')).QrCode }));

interface ApprovalStepProps {
  readonly path: ApprovalPath;
  readonly approval: Approval;
  /** As people know it; masked for a second step. */
  readonly phone: string;
  readonly onLeave: () => void;
}

/** Waits for the SMS of the phone, or for its code. */
export function ApprovalStep({ path, approval, phone, onLeave }: ApprovalStepProps): JSX.Element {
  const { data: state } = useQuery(approvalQuery(path, approval.fallbackUri));
  const opened = useOpened();
  const me = state?.kind === 'approved' ? state.me : null;
  useEffect(() => {
    if (me !== null) opened(me);
    // Once: the session is that of this answer.
  }, [me]);
  if (state?.kind === 'over') return <Over onLeave={onLeave} />;
  return (
    <div className="approval">
      <div className="approval-send">
        <Suspense fallback={<div className="qr" />}>
          <QrCode text={approval.fallbackUri} label="Link to the SMS, for the camera of your phone" />
        </Suspense>
        <div>
          <h2>Send the SMS from {phone}</h2>
          <p className="small soft">
            Scan the code with that phone, then send the message that it opens to {approval.inboundNumber}. Do not
            change its text.
          </p>
          <a className="button" data-kind="tonal" href={approval.fallbackUri}>
            Open on this phone
          </a>
        </div>
      </div>
      <p className="approval-wait" role="status">
        <span className="dot" /> Waiting for your SMS…
      </p>
      <CodeForm path={path} onOpened={opened} />
      <div className="approval-leave">
        <Button kind="plain" onPress={onLeave}>
          Start again
        </Button>
      </div>
    </div>
  );
}

const Over = ({ onLeave }: { readonly onLeave: () => void }): JSX.Element => (
  <div className="approval">
    <p className="notice" data-tone="warn" role="alert">
      This sign-in is over: it took more than five minutes, or the phone is not that of a member. Start again, or ask an
      owner of the installation whether your number is right.
    </p>
    <Button kind="solid" onPress={onLeave}>
      Start again
    </Button>
  </div>
);
