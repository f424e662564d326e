import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import mark from '../shell/mark.svg';
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
  const { data: ways } = useQuery(waysQuery);
  const { fault } = useSearch({ from: '/sign-in' });
  const [way, choose] = useWay();
  const provider = ways?.oidc ?? null;
  return (
    <>
      <h1>Sign in</h1>
      <Fault id="returned-fault" text={returnedFault(fault)} />
      {provider !== null && (
        <>
          <a className="button" data-kind="solid" href={PROVIDER}>
            Sign in with {provider.name}
          </a>
          <p className="or small soft">or</p>
        </>
      )}
      {ways?.phone === true && <Switch way={way} choose={choose} />}
      {way === 'phone' && ways?.phone !== false ? <PhoneForm /> : <KeyForm onSecondStep={onSecondStep} />}
    </>
  );
}

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
