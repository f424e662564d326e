import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, Outlet, useSearch } from '@tanstack/react-router';
import { type JSX, useMemo } from 'react';
import { meQuery } from '../api/session.js';
import { DEVELOPER_PAGES } from '../shell/developer-pages.js';
import { Page } from '../ui/layout.js';
import { Empty } from '../ui/states.js';
import { accountQuery } from './account-queries.js';
import './account.css';
import { ConfirmSession } from './confirm-session.js';
import { useMode } from './mode.js';
import { type AccountScope, ScopeContext, scopeOf } from './scope.js';

/** Around every page of an account: its mode, and for an owner of the installation its name and pages. */
export function AccountFrame(): JSX.Element {
  const { data: me } = useSuspenseQuery(meQuery);
  const { account } = useSearch({ strict: false });
  const [mode] = useMode();
  const scope = useMemo(() => (me === null ? null : scopeOf(me, account, mode)), [me, account, mode]);
  if (scope === null) return <NoAccount />;
  return (
    <ScopeContext value={scope}>
      <div className="account" data-mode={mode}>
        <div className="account-bar">
          <ModeNote scope={scope} />
          <ModeSwitch />
        </div>
        {scope.isOwner && <OwnerPages scope={scope} />}
        <ConfirmSession>
          <Outlet />
        </ConfirmSession>
      </div>
    </ScopeContext>
  );
}

const NoAccount = (): JSX.Element => (
  <Page title="No account">
    <div className="table-frame">
      <Empty title="These pages are about one account">
        Owners of the installation choose one under <Link to="/accounts">Accounts</Link>. Its own developers sign in
        with their phone.
      </Empty>
    </div>
  </Page>
);

function ModeNote({ scope }: { readonly scope: AccountScope }): JSX.Element {
  const { data } = useQuery(accountQuery(scope));
  return (
    <p>
      {data !== undefined && <strong>{data.name}</strong>}{' '}
      {scope.mode === 'test'
        ? 'Test mode: no message is sent, and nothing is charged.'
        : 'Live mode: messages are sent to phones and cost money.'}
    </p>
  );
}

function ModeSwitch(): JSX.Element {
  const [mode, choose] = useMode();
  const isTest = mode === 'test';
  return (
    <button
      type="button"
      className="switch"
      role="switch"
      aria-checked={isTest}
      onClick={() => choose(isTest ? 'live' : 'test')}
    >
      Test mode
      <span className="switch-track" aria-hidden="true" />
    </button>
  );
}

const OwnerPages = ({ scope }: { readonly scope: AccountScope }): JSX.Element => (
  <nav className="tabs" aria-label="Pages of the account">
    {DEVELOPER_PAGES.map(({ to, name }) => (
      <Link key={to} to={to} search={scope.search} activeProps={{ 'aria-current': 'page' }}>
        {name}
      </Link>
    ))}
  </nav>
);
