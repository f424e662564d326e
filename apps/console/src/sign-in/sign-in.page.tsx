import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import mark from '../shell/mark.svg';
import { Button } from '../ui/button.js';
import { ApprovalStep } from './approval-step.js';
import { Fault } from './fault.js';
import { returnedFault } from './faults.js';
import { KeyForm } from './key-form.js';
import { PhoneForm } from './phone-form.js';
import { type SecondStep, secondStepQuery, waysQuery } from './sign-in-queries.js';
import './sign-in.css';

const PROVIDER = '/console/api/sign-in/oidc';
const WAYS = [
  { way: 'key', label: 'With a key' },
  { way: 'phone', label: 'With a phone' },
] as const;
type Way = (typeof WAYS)[number]['way'];

/** The way of the address, which people may keep as a bookmark. */
function useWay(): readonly [Way, (way: Way) => void] {
  const { way } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const choose = (to: Way): void =>
    void navigate({
      from: '/sign-in',
      to: '/sign-in',
      search: ({ next }) => ({ ...keepNext(next), way: to }),
      replace: true,
    });
  return [way === 'phone' ? 'phone' : 'key', choose];
}

const keepNext = (next: string | undefined): { readonly next?: string } => (next === undefined ? {} : { next });

function Switch({ way, choose }: { readonly way: Way; readonly choose: (way: Way) => void }): JSX.Element {
  return (
    <div className="ways" role="group" aria-label="Way to sign in">
      {WAYS.map((each) => (
        <button key={each.way} type="button" aria-pressed={each.way === way} onClick={() => choose(each.way)}>
          {each.label}
        </button>
      ))}
    </div>
  );
}

function Ways({ onSecondStep }: { readonly onSecondStep: (step: SecondStep) => void }): JSX.Element {
  const { data: ways, errorUpdateCount, refetch, isFetching } = useQuery(waysQuery);
  const { fault } = useSearch({ from: '/sign-in' });
  const [way, choose] = useWay();
  const provider = ways?.oidc ?? null;
  const areUnknown = ways === undefined && errorUpdateCount > 0;
  const mayBePhone = ways === undefined ? areUnknown || way === 'phone' : ways.phone;
  return (
    <>
      <h1>Sign in</h1>
      <Fault id="returned-fault" text={returnedFault(fault)} />
      {areUnknown && <WaysUnknown isAsking={isFetching} onRetry={() => void refetch()} />}
      {provider !== null && (
        <>
          <a className="button" data-kind="solid" href={PROVIDER}>
            Sign in with {provider.name}
          </a>
          <p className="or small soft">or</p>
        </>
      )}
      {mayBePhone && <Switch way={way} choose={choose} />}
      {way === 'phone' && mayBePhone ? <PhoneForm /> : <KeyForm onSecondStep={onSecondStep} />}
    </>
  );
}

interface WaysUnknownProps {
  readonly isAsking: boolean;
  readonly onRetry: () => void;
}

const WaysUnknown = ({ isAsking, onRetry }: WaysUnknownProps): JSX.Element => (
  <div className="notice" data-tone="warn" role="alert">
    <p>
      The server did not say which other ways to sign in there are. Sign in with a key, or ask again. If it stays so,
      read the log of the control plane.
    </p>
    <Button isDisabled={isAsking} onPress={onRetry}>
      {isAsking ? 'Asking…' : 'Ask again'}
    </Button>
  </div>
);

function SecondStepForm({ step, onLeave }: { readonly step: SecondStep; readonly onLeave: () => void }): JSX.Element {
  return (
    <>
      <div>
        <h1>One more step</h1>
        <p className="soft">This installation asks for an approval by your phone.</p>
      </div>
      <ApprovalStep path="/sign-in/second-step" approval={step} phone={step.phone} onLeave={onLeave} />
    </>
  );
}

export function SignInPage(): JSX.Element {
  const { step: asked } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const returned = useQuery({ ...secondStepQuery, enabled: asked === 'second' });
  const [begun, setBegun] = useState<SecondStep | null>(null);
  const step = begun ?? (asked === 'second' ? (returned.data ?? null) : null);
  const leave = (): void => {
    setBegun(null);
    void navigate({ from: '/sign-in', to: '/sign-in', search: ({ next }) => keepNext(next), replace: true });
  };
  return (
    <main className="sign-in">
      <title>Sign in · Countersign</title>
      <div className="sign-in-card">
        <img src={mark} alt="" />
        {step === null ? <Ways onSecondStep={setBegun} /> : <SecondStepForm step={step} onLeave={leave} />}
      </div>
    </main>
  );
}
