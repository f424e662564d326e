import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, type ReactNode, useState } from 'react';
import { type OwnBrand, ownBrandsQuery } from '../account/account-queries.js';
import { type AccountScope, useScope } from '../account/scope.js';
import { Page } from '../ui/layout.js';
import { Empty, Loaded } from '../ui/states.js';
import { CodePanel } from './code-panel.js';
import type { Sample } from './code-samples.js';
import { EXAMPLE_PHONE, phoneOf, TEST_PHONES } from './phones.js';
import { QuickKey } from './quick-key.js';
import './quickstart.css';
import { quickKeyQuery } from './quickstart-queries.js';
import { RunHere } from './run-here.js';
import { SessionsLive } from './sessions-live.js';

/** From nothing to an approved session: a key, code that runs, and the session as it changes. */
export function QuickstartPage(): JSX.Element {
  const scope = useScope();
  const brands = useQuery(ownBrandsQuery(scope));
  return (
    <Page
      title="Quickstart"
      lead="Three steps to a first verified phone: a key, one call, and the session that it opens."
    >
      <Loaded query={brands} what="the brands">
        {(all) =>
          all.length === 0 ? (
            <div className="table-frame">
              <Empty title="No brand yet">
                A session is about a brand. An operator of the installation makes the first one of an account.
              </Empty>
            </div>
          ) : (
            <Steps key={scope.mode} brands={all} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Steps({ brands }: { readonly brands: readonly OwnBrand[] }): JSX.Element {
  const scope = useScope();
  const { data: apiKey } = useQuery(quickKeyQuery(scope));
  const [phone, setPhone] = useState<string>(scope.mode === 'test' ? TEST_PHONES[0][0] : EXAMPLE_PHONE);
  const [brandId, setBrandId] = useState(brands[0]?.id ?? '');
  const { accountId } = scope;
  const sample: Sample = { origin: location.origin, key: apiKey ?? 'YOUR_KEY', accountId, brandId, phone };
  return (
    <div className="quick-grid">
      <ol className="steps">
        <Step title="Make a key">
          <QuickKey apiKey={apiKey} />
        </Step>
        <Step title="Open a session">
          <div className="quick-fields">
            <PhoneField mode={scope.mode} phone={phone} onChange={setPhone} />
            {brands.length > 1 && <BrandField brands={brands} value={brandId} onChange={setBrandId} />}
          </div>
          <CodePanel sample={sample} />
          <RunHere sample={sample} apiKey={apiKey} />
        </Step>
        <Step title="Get the result">
          <NextSteps scope={scope} />
        </Step>
      </ol>
      <section className="panel quick-live" aria-label="Sessions as they change">
        <div className="panel-head">
          <h2>Sessions as they change</h2>
        </div>
        <SessionsLive apiKey={apiKey} />
      </section>
    </div>
  );
}

const Step = ({ title, children }: { readonly title: string; readonly children: ReactNode }): JSX.Element => (
  <li className="panel">
    <h2>{title}</h2>
    {children}
  </li>
);

interface PhoneFieldProps {
  readonly mode: AccountScope['mode'];
  readonly phone: string;
  readonly onChange: (phone: string) => void;
}

const PhoneField = ({ mode, phone, onChange }: PhoneFieldProps): JSX.Element => (
  <label className="field">
    <span>{mode === 'test' ? 'Phone, which decides what happens' : 'Phone'}</span>
    {mode === 'test' ? (
      <select value={phone} onChange={({ target }) => onChange(target.value)}>
        {TEST_PHONES.map(([number, what]) => (
          <option key={number} value={number}>
            {number}: {what}
          </option>
        ))}
      </select>
    ) : (
      <input
        value={phone}
        inputMode="tel"
        autoComplete="off"
        onChange={({ target }) => onChange(phoneOf(target.value))}
      />
    )}
  </label>
);

interface BrandFieldProps {
  readonly brands: readonly OwnBrand[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}

const BrandField = ({ brands, value, onChange }: BrandFieldProps): JSX.Element => (
  <label className="field">
    <span>Brand</span>
    <select value={value} onChange={({ target }) => onChange(target.value)}>
      {brands.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  </label>
);

const NextSteps = ({ scope: { search } }: { readonly scope: AccountScope }): JSX.Element => (
  <ul className="next-steps">
    <li>
      <Link to="/webhook" search={search}>
        Set a webhook
      </Link>{' '}
      <span className="soft">and your server gets a signed POST when a session is approved.</span>
    </li>
    <li>
      <a href="/docs/browser-binding" target="_blank" rel="noreferrer">
        Bind the browser
      </a>{' '}
      <span className="soft">with a secret, so that nobody else uses the approval.</span>
    </li>
    <li>
      <a href="/docs/sdk" target="_blank" rel="noreferrer">
        Use the SDK
      </a>{' '}
      <span className="soft">for retries, types and WebSockets.</span>
    </li>
  </ul>
);
