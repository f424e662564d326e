// An OpenID provider, a process of its own: node oidc-provider.mjs '{"port","clients":[…]}'. A person signs in with the name
// alone; the address of `unverified` is not verified. Prints a line when it listens.
import Provider from 'oidc-provider';

const { port, clients } = JSON.parse(process.argv[2]);

const claimsOf = (id) => ({
  sub: id,
  email: `${id.split('-')[0]}@example.com`,
  email_verified: !id.includes('unverified'),
});

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: clients.map(({ id, secret, redirectUri }) => ({
    client_id: id,
    client_secret: secret,
    redirect_uris: [redirectUri],
    response_types: ['code'],
    grant_types: ['authorization_code'],
  })),
  pkce: { required: () => true },
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  findAccount: (_context, id) => ({ accountId: id, claims: () => claimsOf(id) }),
  cookies: { keys: ['of the test'] },
});
provider.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'));
