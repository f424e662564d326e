export interface paths {
  '/v1/verify': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listVerifications'];
    put?: never;
    post: operations['createVerification'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/verify/{sessionId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getVerification'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/usage': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getUsage'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/accounts': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listAccounts'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/brands': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listBrands'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/members/{id}/keys': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getMemberKeys'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/members/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['deleteMember'];
    options?: never;
    head?: never;
    patch: operations['updateMember'];
    trace?: never;
  };
  '/v1/admin/members': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listMembers'];
    put?: never;
    post: operations['createMember'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/destinations/refusals': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listDestinationRefusals'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/destinations/budgets': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listBudgets'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/destinations': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listDestinations'];
    put?: never;
    post: operations['createDestination'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/destinations/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['deleteDestination'];
    options?: never;
    head?: never;
    patch: operations['updateDestination'];
    trace?: never;
  };
  '/v1/admin/binds/{id}/enable': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['enableBind'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/binds/{id}/disable': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['disableBind'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/binds/{id}/reconnect': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['reconnectBind'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/binds/{id}/drain': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['drainBind'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/binds': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listBinds'];
    put?: never;
    post: operations['createBind'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/binds/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getBind'];
    put?: never;
    post?: never;
    delete: operations['deleteBind'];
    options?: never;
    head?: never;
    patch: operations['updateBind'];
    trace?: never;
  };
  '/v1/admin/smpp-systems/{id}/rotate': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['rotateSmppSystem'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/smpp-systems': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listSmppSystems'];
    put?: never;
    post: operations['createSmppSystem'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/smpp-systems/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getSmppSystem'];
    put?: never;
    post?: never;
    delete: operations['deleteSmppSystem'];
    options?: never;
    head?: never;
    patch: operations['updateSmppSystem'];
    trace?: never;
  };
  '/v1/admin/inbound-numbers': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listInboundNumbers'];
    put?: never;
    post: operations['createInboundNumber'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/inbound-numbers/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['deleteInboundNumber'];
    options?: never;
    head?: never;
    patch: operations['updateInboundNumber'];
    trace?: never;
  };
  '/v1/admin/routes': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listRoutes'];
    put?: never;
    post: operations['createRoute'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/routes/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['deleteRoute'];
    options?: never;
    head?: never;
    patch: operations['updateRoute'];
    trace?: never;
  };
  '/v1/admin/routes/resolve': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['resolveRoute'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/gateways': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listGateways'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/binds/{id}/history': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getBindHistory'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/binds/{id}/test-messages': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['sendTestMessage'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/binds/{id}/trace': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getBindTrace'];
    put?: never;
    post: operations['traceBind'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/queues': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listQueues'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/queues/{id}/pause': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['pauseQueue'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/queues/{id}/resume': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['resumeQueue'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/queues/{id}/retry-failed': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['retry-failedQueue'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/messages': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listMessages'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/messages/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getMessage'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/messages/{id}/reveal': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['revealMessage'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listDeliveryRecords'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/deliveries/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getDeliveryRecord'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/deliveries/{id}/retry': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['retryDeliveryRecord'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/sessions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listSessionRecords'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/sessions/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getSessionRecord'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/sessions/{id}/timeline': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getSessionTimeline'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/overview': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getOverview'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/admin/audit': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listAuditEntries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listDeliveries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/deliveries/{deliveryId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getDelivery'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/deliveries/{deliveryId}/retry': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['retryDelivery'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['testWebhook'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getOwnAccount'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/webhook': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getAccountWebhook'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: operations['updateAccountWebhook'];
    trace?: never;
  };
  '/v1/account/webhook/secret/rotate': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['rotateAccountWebhookSecret'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/keys': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listAccountKeys'];
    put?: never;
    post: operations['createAccountKey'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/keys/{id}/rotate': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['rotateAccountKey'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/keys/{id}/revoke': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['revokeAccountKey'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/brands': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listAccountBrands'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/brands/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getAccountBrand'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: operations['updateAccountBrand'];
    trace?: never;
  };
  '/v1/account/requests': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listAccountRequests'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sign-in/key': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['signInWithKey'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sign-in/ways': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['listSignInWays'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sign-in/phone': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getPhoneSignIn'];
    put?: never;
    post: operations['beginPhoneSignIn'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sign-in/phone/send-code': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['sendSignInCode'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sign-in/phone/check': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['checkSignInCode'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sign-in/second-step': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getSecondStep'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sign-in/second-step/send-code': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['sendSecondStepCode'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sign-in/second-step/check': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['checkSecondStepCode'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/me': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['getMe'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sign-out': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['signOut'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/sessions/current/confirm': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['confirmConsoleSession'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    AccountAnswer: {
      id: string;
      name: string;
      defaultWebhookUrl: string | null;
      testWebhookUrl: string | null;
      /** Format: date-time */
      defaultWebhookDisabledAt?: string;
      defaultWebhookDisabledReason?: string;
      webhookEvents: (
        | 'verification.completed'
        | 'verification.denied'
        | 'verification.expired'
        | 'verification.cancelled'
        | 'verification.sender_mismatch'
        | 'verification.otp_delivery'
      )[];
      otpCountries: string[];
      otpDailySpendCapUsd: string | null;
      otpDailyMessageCap: number;
      otpUnconvertedFloor: number;
      active: boolean;
      webhookSecret?: string;
      testWebhookSecret?: string;
    };
    AccountList: {
      data: components['schemas']['AccountAnswer'][];
      hasMore: boolean;
    };
    AttemptAnswer: {
      /** Format: date-time */
      at: string;
      status: number | null;
      latencyMs: number;
      error?: string;
    };
    AuditAnswer: {
      id: string;
      /** Format: date-time */
      at: string;
      actor: string;
      action: string;
      resource: string;
      resourceId: string;
      before: {
        [key: string]: unknown;
      } | null;
      after: {
        [key: string]: unknown;
      } | null;
      requestId: string | null;
    };
    AuditList: {
      data: components['schemas']['AuditAnswer'][];
      hasMore: boolean;
    };
    BindAnswer: {
      window: number;
      enquireLinkSeconds: number;
      responseTimeoutSeconds: number;
      /** @enum {string} */
      defaultAlphabet: 'gsm' | 'latin1' | 'ascii' | 'gsm-packed';
      /** @enum {string} */
      messageIdBase: 'as-is' | 'hex-to-dec' | 'dec-to-hex';
      temporaryStatuses: number[];
      retryableMoStatus: number;
      submitOptions: components['schemas']['SubmitOptionsAnswer'];
      id: string;
      name: string;
      carrier: string;
      hosts: components['schemas']['BindHostAnswer'][];
      tls: components['schemas']['BindTlsAnswer'];
      outbind: components['schemas']['BindOutbindAnswer'] | null;
      systemId: string;
      systemType: string;
      /** @enum {string} */
      bindType: 'transmitter' | 'receiver' | 'transceiver';
      /** @enum {string} */
      interfaceVersion: '3.3' | '3.4' | '5.0';
      addressRange: string;
      connections: number;
      submitPerSecond: number;
      trustedForMo: boolean;
      /** @enum {string} */
      senderFormat: 'international' | 'national' | 'auto';
      enabled: boolean;
      status: components['schemas']['BindStatusAnswer'];
    };
    BindChange: {
      window?: number;
      enquireLinkSeconds?: number;
      responseTimeoutSeconds?: number;
      /** @enum {string} */
      defaultAlphabet?: 'gsm' | 'latin1' | 'ascii' | 'gsm-packed';
      /** @enum {string} */
      messageIdBase?: 'as-is' | 'hex-to-dec' | 'dec-to-hex';
      temporaryStatuses?: number[];
      retryableMoStatus?: number;
      submitOptions?: components['schemas']['SubmitOptionsAnswer'];
      name?: string;
      carrier?: string;
      hosts?: components['schemas']['BindHostAnswer'][];
      host?: string;
      port?: number;
      tls?: components['schemas']['BindTlsSettings'];
      outbind?: components['schemas']['BindOutbindSettings'] | null;
      systemId?: string;
      password?: string;
      systemType?: string;
      /** @enum {string} */
      bindType?: 'transmitter' | 'receiver' | 'transceiver';
      /** @enum {string} */
      interfaceVersion?: '3.3' | '3.4' | '5.0';
      addressRange?: string;
      connections?: number;
      submitPerSecond?: number;
      trustedForMo?: boolean;
      /** @enum {string} */
      senderFormat?: 'international' | 'national' | 'auto';
      enabled?: boolean;
    };
    BindConnectionAnswer: {
      windowUsed: number;
      submitPerSecond: number;
      measuredSubmitPerSecond: number;
      throttled: number;
      enquireLinkMs: number | null;
      lastError: string | null;
      lastErrorAt: string | null;
      unanswered: number;
      host: string | null;
      owner: string | null;
      /** @enum {string} */
      state: 'connecting' | 'binding' | 'bound' | 'draining' | 'standoff' | 'unbound';
      since: string | null;
      deliverPerSecond: number;
      measuredDeliverPerSecond: number;
      reconnects: number;
      previousError: {
        error: string;
        /** Format: date-time */
        at: string;
        /** Format: date-time */
        clearedAt: string;
      } | null;
    };
    BindDraft: {
      window?: number;
      enquireLinkSeconds?: number;
      responseTimeoutSeconds?: number;
      /** @enum {string} */
      defaultAlphabet?: 'gsm' | 'latin1' | 'ascii' | 'gsm-packed';
      /** @enum {string} */
      messageIdBase?: 'as-is' | 'hex-to-dec' | 'dec-to-hex';
      temporaryStatuses?: number[];
      retryableMoStatus?: number;
      submitOptions?: components['schemas']['SubmitOptionsAnswer'];
      name?: string;
      carrier?: string;
      hosts?: components['schemas']['BindHostAnswer'][];
      host?: string;
      port?: number;
      tls?: components['schemas']['BindTlsSettings'];
      outbind?: components['schemas']['BindOutbindSettings'] | null;
      systemId: string;
      password: string;
      systemType?: string;
      /** @enum {string} */
      bindType?: 'transmitter' | 'receiver' | 'transceiver';
      /** @enum {string} */
      interfaceVersion?: '3.3' | '3.4' | '5.0';
      addressRange?: string;
      connections?: number;
      submitPerSecond?: number;
      trustedForMo?: boolean;
      /** @enum {string} */
      senderFormat?: 'international' | 'national' | 'auto';
      enabled?: boolean;
    } & (components['schemas']['BindHosts'] | components['schemas']['BindSingleHost']);
    BindEventView: {
      slot: number;
      /** @enum {string} */
      event: 'bound' | 'error' | 'draining' | 'unbound';
      /** Format: date-time */
      at: string;
      /** Format: date-time */
      lastAt: string;
      times: number;
      host: string | null;
      error: string | null;
      gateway: string;
    };
    BindHistory: {
      data: components['schemas']['BindEventView'][];
    };
    BindHostAnswer: {
      host: string;
      port: number;
    };
    BindHosts: {
      hosts: components['schemas']['BindHostAnswer'][];
    };
    BindList: {
      data: components['schemas']['BindAnswer'][];
      hasMore: boolean;
    };
    BindOutbindAnswer: {
      systemId: string;
      allowedCidrs: string[];
    };
    BindOutbindSettings: {
      systemId: string;
      allowedCidrs: string[];
      password?: string;
    };
    BindSingleHost: {
      host: string;
      port: number;
    };
    BindStatusAnswer: {
      /** @enum {string} */
      state: 'bound' | 'degraded' | 'unbound' | 'disabled';
      learnedSenderFormat: ('international' | 'national' | 'mixed') | null;
      connections: components['schemas']['BindConnectionAnswer'][];
    };
    BindTlsAnswer: {
      enabled: boolean;
      caCertificate?: string;
      serverName?: string;
      clientCertificate?: string;
    };
    BindTlsSettings: {
      enabled: boolean;
      caCertificate?: string;
      serverName?: string;
      clientCertificate?: string;
      clientKey?: string;
    };
    BrandAnswer: {
      id: string;
      accountId: string;
      name: string;
      slug: string;
      instruction: string;
      logoUrl: string | null;
      rcsAgentId: string | null;
      rcsNumberMatching: boolean;
      senderId: string | null;
      domain: string | null;
      entropyKeyVersion: number;
      active: boolean;
      requested?: components['schemas']['BrandRequest'];
    };
    BrandList: {
      data: components['schemas']['BrandAnswer'][];
      hasMore: boolean;
    };
    BrandRequest: {
      name: string | null;
      slug: string | null;
      /** Format: date-time */
      at: string;
    };
    BudgetAnswer: {
      id: string;
      name: string;
      lastHour: components['schemas']['BudgetWindow'];
      today: components['schemas']['BudgetWindow'];
      dailyMessageCap: number;
      spentTodayUsd: string;
      dailySpendCapUsd: string | null;
    };
    BudgetList: {
      data: components['schemas']['BudgetAnswer'][];
      hasMore: boolean;
    };
    BudgetWindow: {
      sends: number;
      unconverted: number;
      allowed: number;
    };
    ChannelCounts: {
      rcs: number;
      sms_fallback: number;
    };
    CheckCode: {
      code: string;
    };
    ChosenRoute: {
      routeId: string;
      linkId: string;
      sourceAddress: string | null;
      submitOptions: components['schemas']['SubmitOptionsAnswer'];
      costUsd: string;
      priceUsd: string | null;
    };
    CreatedSession: {
      id: string;
      /** @enum {string} */
      status: 'pending' | 'approved' | 'expired' | 'denied' | 'cancelled';
      /** @enum {string} */
      channel: 'rcs' | 'sms_fallback';
      fallbackUri: string | null;
      phone: string;
      accountId: string;
      brandId: string;
      brandSlug: string;
      clientChallenge: string;
      latencyMs: number | null;
      approvedAt: string | null;
      /** Format: date-time */
      expiresAt: string;
      /** Format: date-time */
      createdAt: string;
      metadata: {
        [key: string]: string;
      };
      /** @enum {boolean} */
      test?: true;
      authEntropy?: string;
      matchCode?: string;
    };
    CreateVerification: {
      phone: string;
      accountId: string;
      brandId: string;
      clientChallenge: string;
      /** Format: uri */
      webhookUrl?: string;
      ttl?: number;
      /** @enum {string} */
      channel?: 'rcs' | 'sms_fallback';
      allowSmsOtp?: boolean;
      metadata?: {
        [key: string]: string;
      };
    };
    DeliveryAnswer: {
      id: string;
      eventId: string;
      /** @enum {string} */
      type:
        | 'verification.completed'
        | 'verification.denied'
        | 'verification.expired'
        | 'verification.cancelled'
        | 'verification.sender_mismatch'
        | 'verification.otp_delivery'
        | 'webhook.test'
        | 'webhook.disabled';
      sessionId: string | null;
      /** Format: uri */
      url: string;
      /** @enum {string} */
      status: 'pending' | 'succeeded' | 'failed' | 'blocked';
      attempts: components['schemas']['AttemptAnswer'][];
      nextAttemptAt: string | null;
      body: {
        [key: string]: unknown;
      } | null;
    };
    DeliveryDetailAnswer: {
      id: string;
      eventId: string;
      accountId: string;
      test: boolean;
      /** @enum {string} */
      type:
        | 'verification.completed'
        | 'verification.denied'
        | 'verification.expired'
        | 'verification.cancelled'
        | 'verification.sender_mismatch'
        | 'verification.otp_delivery'
        | 'webhook.test'
        | 'webhook.disabled';
      sessionId: string | null;
      url: string;
      /** @enum {string} */
      status: 'pending' | 'succeeded' | 'failed' | 'blocked';
      attemptsMade: number;
      lastAttempt: components['schemas']['AttemptAnswer'] | null;
      nextAttemptAt: string | null;
      attempts: components['schemas']['AttemptAnswer'][];
      body: {
        [key: string]: unknown;
      } | null;
    };
    DeliveryListAnswer: {
      data: components['schemas']['DeliveryAnswer'][];
      hasMore: boolean;
    };
    DeliveryRecordAnswer: {
      id: string;
      eventId: string;
      accountId: string;
      test: boolean;
      /** @enum {string} */
      type:
        | 'verification.completed'
        | 'verification.denied'
        | 'verification.expired'
        | 'verification.cancelled'
        | 'verification.sender_mismatch'
        | 'verification.otp_delivery'
        | 'webhook.test'
        | 'webhook.disabled';
      sessionId: string | null;
      url: string;
      /** @enum {string} */
      status: 'pending' | 'succeeded' | 'failed' | 'blocked';
      attemptsMade: number;
      lastAttempt: components['schemas']['AttemptAnswer'] | null;
      nextAttemptAt: string | null;
    };
    DeliveryRecordList: {
      data: components['schemas']['DeliveryRecordAnswer'][];
      hasMore: boolean;
    };
    DestinationAnswer: {
      id: string;
      accountId: string | null;
      prefix: string;
      /** @enum {string} */
      action: 'allow' | 'block';
      kinds: (
        | 'non_geographic'
        | 'pager'
        | 'personal_number'
        | 'premium_rate'
        | 'shared_cost'
        | 'toll_free'
        | 'uan'
        | 'voicemail'
      )[];
      reason: string;
      until: string | null;
      /** @enum {string} */
      origin: 'admin' | 'guard';
    };
    DestinationChange: {
      prefix?: string;
      /** @enum {string} */
      action?: 'allow' | 'block';
      kinds?: (
        | 'non_geographic'
        | 'pager'
        | 'personal_number'
        | 'premium_rate'
        | 'shared_cost'
        | 'toll_free'
        | 'uan'
        | 'voicemail'
      )[];
      reason?: string;
      until?: string | null;
    };
    DestinationDraft: {
      accountId?: string | null;
      prefix: string;
      /** @enum {string} */
      action: 'allow' | 'block';
      kinds?: (
        | 'non_geographic'
        | 'pager'
        | 'personal_number'
        | 'premium_rate'
        | 'shared_cost'
        | 'toll_free'
        | 'uan'
        | 'voicemail'
      )[];
      reason?: string;
      until?: string | null;
    };
    DestinationList: {
      data: components['schemas']['DestinationAnswer'][];
      hasMore: boolean;
    };
    ErrorAnswer: {
      error: components['schemas']['ErrorDetail'];
    };
    ErrorDetail: {
      /** @enum {string} */
      code:
        | 'MALFORMED_REQUEST'
        | 'UNAUTHORIZED'
        | 'FORBIDDEN'
        | 'CONFIRMATION_REQUIRED'
        | 'SMS_OTP_DISABLED'
        | 'DESTINATION_BLOCKED'
        | 'HTTPS_REQUIRED'
        | 'SESSION_NOT_FOUND'
        | 'NOT_FOUND'
        | 'METHOD_NOT_ALLOWED'
        | 'SESSION_NOT_PENDING'
        | 'SESSION_NOT_APPROVED'
        | 'SESSION_CONSUMED'
        | 'OTP_NOT_SENT'
        | 'IDEMPOTENCY_IN_PROGRESS'
        | 'CONFLICT'
        | 'PAYLOAD_TOO_LARGE'
        | 'UNSUPPORTED_MEDIA_TYPE'
        | 'INVALID_PHONE'
        | 'VALIDATION_ERROR'
        | 'INVALID_BRAND'
        | 'INVALID_WEBHOOK_URL'
        | 'INVALID_CODE'
        | 'IDEMPOTENCY_KEY_REUSED'
        | 'RATE_LIMITED'
        | 'TOO_MANY_ATTEMPTS'
        | 'SEND_LIMIT_REACHED'
        | 'INTERNAL_ERROR'
        | 'SERVICE_UNAVAILABLE';
      message: string;
      field?: string;
      attemptsRemaining?: number;
      /** Format: uri */
      docUrl: string;
    };
    FullTraceDraft: {
      seconds: number;
    };
    FullTraceView: {
      bindId: string;
      fullTraceUntil: string | null;
    };
    GatewayAnswer: {
      id: string;
      host: string;
      version: string;
      /** Format: date-time */
      startedAt: string;
      /** Format: date-time */
      seenAt: string;
      stopping: boolean;
      leases: components['schemas']['GatewayLeaseAnswer'][];
      systemConnections: number;
    };
    GatewayLeaseAnswer: {
      bindId: string;
      slot: number;
      epoch: number;
      /** Format: date-time */
      expiresAt: string;
      state: ('connecting' | 'binding' | 'bound' | 'draining' | 'standoff' | 'unbound') | null;
    };
    GatewayList: {
      data: components['schemas']['GatewayAnswer'][];
      hasMore: boolean;
    };
    GuardState: {
      accountId: string | null;
      refusedBy:
        | (
            | 'number_type'
            | 'destination_rule'
            | 'country'
            | 'breaker'
            | 'budget_account'
            | 'budget_country'
            | 'budget_day'
            | 'daily_messages'
            | 'no_price'
            | 'daily_spend'
            | 'phone_hourly'
            | 'phone_daily'
          )
        | null;
      until: string | null;
      rules: components['schemas']['DestinationAnswer'][];
    };
    InboundNumberAnswer: {
      id: string;
      number: string;
      countries: string[];
      brandId: string | null;
    };
    InboundNumberChange: {
      number?: string;
      countries?: string[];
      brandId?: string | null;
    };
    InboundNumberDraft: {
      number: string;
      countries: string[];
      brandId?: string | null;
    };
    InboundNumberList: {
      data: components['schemas']['InboundNumberAnswer'][];
      hasMore: boolean;
    };
    KeyAnswer: {
      id: string;
      accountId: string;
      /** @enum {string} */
      kind: 'live' | 'test';
      name: string;
      scopes: ('verify' | 'otp' | 'usage' | 'realtime' | 'webhooks' | 'account')[];
      limits: {
        default?: number;
        create?: number;
        poll?: number;
        usage?: number;
      };
      prefix: string;
      lastUsedAt: string | null;
      revokedAt: string | null;
      memberId?: string;
      key?: string;
    };
    KeyList: {
      data: components['schemas']['KeyAnswer'][];
      hasMore: boolean;
    };
    KeySignIn: {
      key: string;
    };
    LastRefusal: {
      /** Format: date-time */
      at: string;
      reason: string;
      address: string;
    };
    ListedSession: {
      id: string;
      /** @enum {string} */
      status: 'pending' | 'approved' | 'expired' | 'denied' | 'cancelled';
      /** @enum {string} */
      channel: 'rcs' | 'sms_fallback';
      fallbackUri: string | null;
      phone: string;
      accountId: string;
      brandId: string;
      brandSlug: string;
      clientChallenge: string;
      latencyMs: number | null;
      approvedAt: string | null;
      /** Format: date-time */
      expiresAt: string;
      /** Format: date-time */
      createdAt: string;
      metadata: {
        [key: string]: string;
      };
      /** @enum {boolean} */
      test?: true;
    };
    MeAnswer: {
      name: string;
      /** @enum {string} */
      role: 'viewer' | 'developer' | 'support' | 'operator' | 'owner';
      accountId?: string;
      csrfToken: string;
      /** Format: date-time */
      expiresAt: string;
      /** Format: date-time */
      confirmedUntil?: string;
    };
    MemberAnswer: {
      id: string;
      name: string;
      phone: string | null;
      /** @enum {string} */
      role: 'viewer' | 'developer' | 'support' | 'operator' | 'owner';
      accountId?: string;
      email: string | null;
      oidc: {
        /** Format: uri */
        issuer: string;
        subject: string;
      } | null;
      lastSignInAt: string | null;
      active: boolean;
      keys?: components['schemas']['KeyAnswer'][];
    };
    MemberChange: {
      name?: string;
      /** @enum {string} */
      role?: 'viewer' | 'developer' | 'support' | 'operator' | 'owner';
      phone?: string | null;
      email?: string | null;
      oidc?: {
        /** Format: uri */
        issuer: string;
        subject: string;
      } | null;
      active?: boolean;
      revokeKeys?: boolean;
    };
    MemberDraft: {
      accountId?: string;
      name: string;
      /** @enum {string} */
      role: 'viewer' | 'developer' | 'support' | 'operator' | 'owner';
      phone?: string | null;
      email?: string | null;
      oidc?: {
        /** Format: uri */
        issuer: string;
        subject: string;
      } | null;
      active?: boolean;
    };
    MemberList: {
      data: components['schemas']['MemberAnswer'][];
      hasMore: boolean;
    };
    MessageAnswer: {
      id: string;
      /** @enum {string} */
      direction: 'in' | 'out';
      /** @enum {boolean} */
      test?: true;
      /** @enum {string} */
      fate:
        | 'matched'
        | 'duplicate'
        | 'wrong_sender'
        | 'unknown_token'
        | 'expired'
        | 'ended'
        | 'no_token'
        | 'untrusted'
        | 'ambiguous_sender'
        | 'queued'
        | 'sending'
        | 'submitted'
        | 'delivered'
        | 'undelivered'
        | 'failed';
      /** Format: date-time */
      at: string;
      sessionId: string | null;
      accountId: string | null;
      carrier: string | null;
      linkId: string | null;
      source: string;
      destination: string;
      part: {
        number: number;
        total: number;
      } | null;
      attempts: number | null;
      unknownFates: number | null;
      networkError: string | null;
      smscMessageId: string | null;
      submittedAt: string | null;
      endedAt: string | null;
      attemptLog?: components['schemas']['MessageAttempt'][];
      text?: string | null;
    };
    MessageAttempt: {
      attempt: number;
      outcome: ('submitted' | 'throttled' | 'refused' | 'not_sent' | 'unanswered' | 'unknown') | null;
      commandStatus: string | null;
      error: string | null;
      smscMessageId: string | null;
      /** Format: date-time */
      startedAt: string;
      submittedAt: string | null;
      answeredAt: string | null;
      linkId: string | null;
      linkName: string | null;
      connection: number | null;
      owner: string;
      routeId: string | null;
      carrier: string | null;
      source: string | null;
    };
    MessageList: {
      data: components['schemas']['MessageAnswer'][];
      hasMore: boolean;
    };
    OverviewAnswer: {
      funnel: components['schemas']['OverviewFunnel'];
      timeToApproveMs: components['schemas']['OverviewTimes'];
      codesSent: number;
      spendUsd: string;
      period: components['schemas']['OverviewPeriod'];
      test: boolean;
      breakdown?: components['schemas']['OverviewGroup'][];
    };
    OverviewFunnel: {
      created: number | null;
      deliveredOrTapped: number | null;
      approved: number;
      denied: number | null;
      expired: number | null;
      cancelled: number | null;
    };
    OverviewGroup: {
      funnel: components['schemas']['OverviewFunnel'];
      timeToApproveMs: components['schemas']['OverviewTimes'];
      codesSent: number;
      spendUsd: string;
      country?: string;
      /** @enum {string} */
      channel?: 'rcs' | 'sms_fallback' | 'sms_otp';
      brandId?: string;
      routeId?: string;
      /** Format: date */
      day?: string;
      /** Format: date-time */
      hour?: string;
    };
    OverviewPeriod: {
      /** Format: date-time */
      from: string;
      /** Format: date-time */
      to: string;
    };
    OverviewTimes: {
      p50: number | null;
      p95: number | null;
    };
    OwnAccountAnswer: {
      id: string;
      name: string;
      otpCountries: string[];
      otpDailySpendCapUsd: string | null;
      otpDailyMessageCap: number;
      otpUnconvertedFloor: number;
      key: components['schemas']['OwnKey'];
    };
    OwnBrandAnswer: {
      id: string;
      name: string;
      slug: string;
      instruction: string;
      logoUrl: string | null;
      domain: string | null;
      active: boolean;
      requested?: components['schemas']['BrandRequest'];
      /** Format: date-time */
      requestRefusedAt?: string;
    };
    OwnBrandChange: {
      name?: string;
      slug?: string;
      instruction?: string;
      logoUrl?: string | null;
    };
    OwnBrandList: {
      data: components['schemas']['OwnBrandAnswer'][];
      hasMore: boolean;
    };
    OwnKey: {
      id: string;
      /** @enum {string} */
      kind: 'live' | 'test';
      scopes: ('verify' | 'otp' | 'usage' | 'realtime' | 'webhooks' | 'account')[];
      limits: {
        default?: number;
        create?: number;
        poll?: number;
        usage?: number;
      };
    };
    OwnKeyDraft: {
      name: string;
      scopes?: ('verify' | 'otp' | 'usage' | 'realtime' | 'webhooks' | 'account')[];
    };
    OwnWebhookAnswer: {
      defaultWebhookUrl?: string | null;
      /** Format: date-time */
      defaultWebhookDisabledAt?: string;
      defaultWebhookDisabledReason?: string;
      testWebhookUrl: string | null;
      webhookEvents: (
        | 'verification.completed'
        | 'verification.denied'
        | 'verification.expired'
        | 'verification.cancelled'
        | 'verification.sender_mismatch'
        | 'verification.otp_delivery'
      )[];
    };
    OwnWebhookChange: {
      defaultWebhookUrl?: string | null;
      testWebhookUrl?: string | null;
      webhookEvents?: (
        | 'verification.completed'
        | 'verification.denied'
        | 'verification.expired'
        | 'verification.cancelled'
        | 'verification.sender_mismatch'
        | 'verification.otp_delivery'
      )[];
    };
    PhoneSignInAnswer: {
      fallbackUri: string;
      inboundNumber: string;
      /** Format: date-time */
      expiresAt: string;
    };
    PhoneSignInStart: {
      phone: string;
    };
    PhoneSignInState: {
      /** @enum {string} */
      state: 'pending' | 'approved';
      /** Format: date-time */
      expiresAt?: string;
      me?: components['schemas']['MeAnswer'];
    };
    QueueAnswer: {
      /** @enum {string} */
      name: 'webhooks' | 'outbound' | 'cards';
      paused: boolean;
      pausedAt: string | null;
      counts: components['schemas']['QueueCounts'];
      oldestAgeSeconds: number | null;
      retried?: number;
    };
    QueueCounts: {
      waiting: number;
      inFlight: number;
      failed: number;
    };
    QueueList: {
      data: components['schemas']['QueueAnswer'][];
      hasMore: boolean;
    };
    RefusalAnswer: {
      id: string;
      accountId: string;
      /** Format: date-time */
      hour: string;
      rule: string;
      prefix: string;
      refused: number;
      /** Format: date-time */
      lastAt: string;
    };
    RefusalList: {
      data: components['schemas']['RefusalAnswer'][];
      hasMore: boolean;
    };
    RequestAnswer: {
      id: string;
      /** Format: date-time */
      at: string;
      keyId: string;
      method: string;
      path: string;
      status: number;
      code: string | null;
      latencyMs: number;
    };
    RequestList: {
      data: components['schemas']['RequestAnswer'][];
      hasMore: boolean;
    };
    ResolveRoute: {
      phone: string;
      brandId?: string;
    };
    RotatedSecretAnswer: {
      secret: string;
      /** Format: date-time */
      previousValidUntil: string;
    };
    RouteAnswer: {
      id: string;
      prefix: string;
      bindId: string | null;
      smppSystemId?: string;
      priority: number;
      weight: number;
      costUsd: string;
      sourceAddress: string | null;
      submitOptions: components['schemas']['SubmitOptionsAnswer'];
      enabled: boolean;
    };
    RouteCandidate: {
      routeId: string;
      prefix: string;
      priority: number;
      weight: number;
      linkId: string;
      linkName: string;
      carrier: string;
      /** @enum {string} */
      linkState: 'bound' | 'full' | 'unbound' | 'disabled';
      connectionsBound: number;
      /** @enum {string} */
      verdict: 'chosen' | 'next' | 'skipped';
      reason: string | null;
    };
    RouteChange: {
      prefix?: string;
      bindId?: string | null;
      smppSystemId?: string | null;
      priority?: number;
      weight?: number;
      costUsd?: string | number;
      sourceAddress?: string | null;
      submitOptions?: components['schemas']['SubmitOptionsAnswer'];
      enabled?: boolean;
    };
    RouteDraft: {
      prefix: string;
      bindId?: string | null;
      smppSystemId?: string | null;
      priority?: number;
      weight?: number;
      costUsd?: string | number;
      sourceAddress?: string | null;
      submitOptions?: components['schemas']['SubmitOptionsAnswer'];
      enabled?: boolean;
    };
    RouteList: {
      data: components['schemas']['RouteAnswer'][];
      hasMore: boolean;
    };
    RouteResolution: {
      /** @enum {string} */
      decision: 'send' | 'wait' | 'refused' | 'no_route';
      reason: string;
      country: string;
      queuePaused: boolean;
      guard: components['schemas']['GuardState'];
      candidates: components['schemas']['RouteCandidate'][];
      chosen: components['schemas']['ChosenRoute'] | null;
    };
    SecondStepAnswer: {
      fallbackUri: string;
      inboundNumber: string;
      /** Format: date-time */
      expiresAt: string;
      phone: string;
    };
    SecondStepState: {
      /** @enum {string} */
      state: 'pending' | 'approved';
      secondStep?: components['schemas']['SecondStepAnswer'];
      me?: components['schemas']['MeAnswer'];
    };
    SessionAnswer: {
      id: string;
      /** @enum {string} */
      status: 'pending' | 'approved' | 'expired' | 'denied' | 'cancelled';
      /** @enum {string} */
      channel: 'rcs' | 'sms_fallback';
      fallbackUri: string | null;
      phone: string;
      accountId: string;
      brandId: string;
      brandSlug: string;
      clientChallenge: string;
      latencyMs: number | null;
      approvedAt: string | null;
      /** Format: date-time */
      expiresAt: string;
      /** Format: date-time */
      createdAt: string;
      metadata: {
        [key: string]: string;
      };
      /** @enum {boolean} */
      test?: true;
      authEntropy?: string;
    };
    SessionCard: {
      /** @enum {string} */
      state: 'offered' | 'sending' | 'sent' | 'refused' | 'unknown' | 'withdrawn';
      reason: string | null;
      agentId: string;
      numberMatching: boolean;
      settledAs: ('rcs' | 'sms_fallback') | null;
      /** Format: date-time */
      offeredAt: string;
      sentAt: string | null;
      deliveredAt: string | null;
      readAt: string | null;
      tappedAt: string | null;
      command: ('revoke' | 'close_approved' | 'close_denied') | null;
    };
    SessionConfirmation: {
      key: string;
    };
    SessionListAnswer: {
      data: components['schemas']['ListedSession'][];
      hasMore: boolean;
      nextStartingAfter?: string;
    };
    SessionRecordAnswer: {
      id: string;
      /** @enum {string} */
      status: 'pending' | 'approved' | 'expired' | 'denied' | 'cancelled';
      /** @enum {string} */
      channel: 'rcs' | 'sms_fallback';
      accountId: string;
      brandId: string;
      brandSlug: string;
      clientChallenge: string;
      latencyMs: number | null;
      approvedAt: string | null;
      /** Format: date-time */
      expiresAt: string;
      /** Format: date-time */
      createdAt: string;
      /** @enum {boolean} */
      test?: true;
      phone: string;
      metadata: {
        [key: string]: string;
      };
      endedAt: string | null;
      approvedBy: ('mo' | 'rcs' | 'otp') | null;
      country: string;
      inboundNumber: string;
      allowSmsOtp: boolean;
      codesSent: number;
      codesTried: number;
      card: components['schemas']['SessionCard'] | null;
    };
    SessionRecordList: {
      data: components['schemas']['SessionRecordAnswer'][];
      hasMore: boolean;
    };
    SessionTimeline: {
      sessionId: string;
      data: components['schemas']['TimelineEntry'][];
      truncated: boolean;
    };
    SignInWays: {
      key: boolean;
      oidc: {
        name: string;
      } | null;
      phone: boolean;
      secondStep: boolean;
    };
    SmppSystemAnswer: {
      window: number;
      enquireLinkSeconds: number;
      responseTimeoutSeconds: number;
      /** @enum {string} */
      defaultAlphabet: 'gsm' | 'latin1' | 'ascii' | 'gsm-packed';
      /** @enum {string} */
      messageIdBase: 'as-is' | 'hex-to-dec' | 'dec-to-hex';
      temporaryStatuses: number[];
      retryableMoStatus: number;
      submitOptions: components['schemas']['SubmitOptionsAnswer'];
      id: string;
      systemId: string;
      carrier: string;
      allowedCidrs: string[];
      bindTypes: ('transmitter' | 'receiver' | 'transceiver')[];
      maxConnections: number;
      submitPerSecond: number | null;
      deliverPerSecond: number;
      tlsRequired: boolean;
      outbind: components['schemas']['SystemOutbindAnswer'] | null;
      trustedForMo: boolean;
      trustWarning: string | null;
      /** @enum {string} */
      senderFormat: 'international' | 'national' | 'auto';
      learnedSenderFormat: ('international' | 'national' | 'mixed') | null;
      enabled: boolean;
      refusedBinds: number;
      lastRefusal: components['schemas']['LastRefusal'] | null;
      connections: components['schemas']['SystemConnectionAnswer'][];
      password?: string;
    };
    SmppSystemChange: {
      window?: number;
      enquireLinkSeconds?: number;
      responseTimeoutSeconds?: number;
      /** @enum {string} */
      defaultAlphabet?: 'gsm' | 'latin1' | 'ascii' | 'gsm-packed';
      /** @enum {string} */
      messageIdBase?: 'as-is' | 'hex-to-dec' | 'dec-to-hex';
      temporaryStatuses?: number[];
      retryableMoStatus?: number;
      submitOptions?: components['schemas']['SubmitOptionsAnswer'];
      systemId?: string;
      password?: string;
      carrier?: string;
      allowedCidrs?: string[];
      bindTypes?: ('transmitter' | 'receiver' | 'transceiver')[];
      maxConnections?: number;
      submitPerSecond?: number | null;
      deliverPerSecond?: number;
      tlsRequired?: boolean;
      outbind?: components['schemas']['SystemOutbindSettings'] | null;
      trustedForMo?: boolean;
      /** @enum {string} */
      senderFormat?: 'international' | 'national' | 'auto';
      enabled?: boolean;
    };
    SmppSystemDraft: {
      window?: number;
      enquireLinkSeconds?: number;
      responseTimeoutSeconds?: number;
      /** @enum {string} */
      defaultAlphabet?: 'gsm' | 'latin1' | 'ascii' | 'gsm-packed';
      /** @enum {string} */
      messageIdBase?: 'as-is' | 'hex-to-dec' | 'dec-to-hex';
      temporaryStatuses?: number[];
      retryableMoStatus?: number;
      submitOptions?: components['schemas']['SubmitOptionsAnswer'];
      systemId: string;
      password?: string;
      carrier?: string;
      allowedCidrs?: string[];
      bindTypes?: ('transmitter' | 'receiver' | 'transceiver')[];
      maxConnections?: number;
      submitPerSecond?: number | null;
      deliverPerSecond?: number;
      tlsRequired?: boolean;
      outbind?: components['schemas']['SystemOutbindSettings'] | null;
      trustedForMo?: boolean;
      /** @enum {string} */
      senderFormat?: 'international' | 'national' | 'auto';
      enabled?: boolean;
    };
    SmppSystemList: {
      data: components['schemas']['SmppSystemAnswer'][];
      hasMore: boolean;
    };
    SubmitAddressOptions: {
      ton?: number;
      npi?: number;
      /** @enum {string} */
      form?: 'international' | 'plus' | 'national';
    };
    SubmitOptionsAnswer: {
      /** @enum {string} */
      validityPeriod?: 'relative' | 'absolute' | 'none';
      serviceType?: string;
      protocolId?: number;
      priorityFlag?: number;
      registeredDelivery?: number;
      source?: components['schemas']['SubmitAddressOptions'];
      destination?: components['schemas']['SubmitAddressOptions'];
      /** @enum {string} */
      concatenation?: 'udh' | 'sar' | 'message_payload';
      tlvs?: components['schemas']['SubmitTlv'][];
      rewrite?: components['schemas']['SubmitRewriteRule'][];
    };
    SubmitRewriteExample: {
      from: string;
      to: string;
    };
    SubmitRewriteRule: {
      /** @enum {string} */
      of: 'source' | 'destination';
      match: string;
      exact?: boolean;
      replace: string;
      examples?: components['schemas']['SubmitRewriteExample'][];
    };
    SubmitTlv: {
      tag: number | string;
      /** @enum {string} */
      type: 'string' | 'cstring' | 'hex' | 'uint8' | 'uint16' | 'uint32';
      value: number | string;
    };
    SystemConnectionAnswer: {
      windowUsed: number;
      submitPerSecond: number;
      measuredSubmitPerSecond: number;
      throttled: number;
      enquireLinkMs: number | null;
      lastError: string | null;
      lastErrorAt: string | null;
      unanswered: number;
      owner: string;
      address: string;
      /** @enum {string} */
      bindType: 'transmitter' | 'receiver' | 'transceiver';
      /** @enum {string} */
      state: 'bound' | 'draining';
      /** Format: date-time */
      since: string;
      tls: boolean;
    };
    SystemOutbindAnswer: {
      host: string;
      port: number;
      tls: components['schemas']['BindTlsAnswer'];
      systemId: string;
    };
    SystemOutbindSettings: {
      host: string;
      port: number;
      tls?: components['schemas']['BindTlsSettings'];
      systemId: string;
      password?: string;
    };
    TestMessageAnswer: {
      /** @enum {string} */
      state: 'accepted' | 'refused' | 'unanswered' | 'not_sent';
      error: string | null;
      smscMessageId: string | null;
      slot: number | null;
      sentAt: string | null;
      answeredAt: string | null;
      from: string;
      text: string;
    };
    TestMessageDraft: {
      to: string;
      from?: string;
    };
    TestWebhook: {
      /** Format: uri */
      url?: string;
    };
    TimelineEntry: {
      /** Format: date-time */
      at: string;
      type: string;
      /** @enum {string} */
      source: 'rest' | 'smpp' | 'rcs' | 'guard' | 'realtime' | 'webhook' | 'clock';
      summary: string;
      details: {
        [key: string]: unknown;
      };
    };
    TracedConnectionView: {
      gateway: string;
      slot: number;
      pdus: components['schemas']['TracedPduView'][];
    };
    TracedPduView: {
      /** Format: date-time */
      at: string;
      /** @enum {string} */
      direction: 'in' | 'out';
      local: string;
      remote: string;
      command: string | null;
      status: string;
      sequence: number;
      fields: {
        [key: string]: unknown;
      };
      tlvs: {
        [key: string]: unknown;
      };
      fault: string | null;
      octets: string;
    };
    TraceView: {
      bindId: string;
      fullTraceUntil: string | null;
      connections: components['schemas']['TracedConnectionView'][];
    };
    UsageAnswer: {
      verifications: components['schemas']['VerificationCounts'];
      channels: components['schemas']['ChannelCounts'];
      estimatedCostUsd: string;
      period: components['schemas']['UsagePeriod'];
      breakdown?: components['schemas']['UsageGroup'][];
    };
    UsageGroup: {
      verifications: components['schemas']['VerificationCounts'];
      channels: components['schemas']['ChannelCounts'];
      estimatedCostUsd: string;
      /** Format: date */
      day?: string;
      country?: string;
      brandId?: string;
    };
    UsagePeriod: {
      /** Format: date-time */
      from: string;
      /** Format: date-time */
      to: string;
    };
    VerificationCounts: {
      total: number;
      approved: number;
      expired: number;
      denied: number;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  listVerifications: {
    parameters: {
      query?: {
        status?: 'pending' | 'approved' | 'expired' | 'denied' | 'cancelled';
        phone?: string;
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionListAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  createVerification: {
    parameters: {
      query?: never;
      header?: {
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateVerification'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedSession'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getVerification: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        sessionId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getUsage: {
    parameters: {
      query?: {
        from?: string;
        to?: string;
        groupBy?: 'day' | 'country' | 'brand';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UsageAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listAccounts: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccountList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listBrands: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
        accountId?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BrandList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getMemberKeys: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['KeyList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  deleteMember: {
    parameters: {
      query?: {
        revokeKeys?: 'true' | 'false';
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  updateMember: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MemberChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MemberAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listMembers: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
        accountId?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MemberList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  createMember: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MemberDraft'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MemberAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listDestinationRefusals: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
        accountId?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RefusalList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listBudgets: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BudgetList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listDestinations: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
        accountId?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DestinationList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  createDestination: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['DestinationDraft'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DestinationAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  deleteDestination: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  updateDestination: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['DestinationChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DestinationAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  enableBind: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BindAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  disableBind: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BindAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  reconnectBind: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BindAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  drainBind: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BindAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listBinds: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BindList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  createBind: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['BindDraft'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BindAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getBind: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BindAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  deleteBind: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  updateBind: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['BindChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BindAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  rotateSmppSystem: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SmppSystemAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listSmppSystems: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SmppSystemList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  createSmppSystem: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SmppSystemDraft'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SmppSystemAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getSmppSystem: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SmppSystemAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  deleteSmppSystem: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  updateSmppSystem: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SmppSystemChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SmppSystemAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listInboundNumbers: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['InboundNumberList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  createInboundNumber: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['InboundNumberDraft'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['InboundNumberAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  deleteInboundNumber: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  updateInboundNumber: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['InboundNumberChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['InboundNumberAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listRoutes: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RouteList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  createRoute: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['RouteDraft'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RouteAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  deleteRoute: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  updateRoute: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['RouteChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RouteAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  resolveRoute: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ResolveRoute'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RouteResolution'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listGateways: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['GatewayList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getBindHistory: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BindHistory'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  sendTestMessage: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['TestMessageDraft'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TestMessageAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getBindTrace: {
    parameters: {
      query?: {
        format?: 'json' | 'pcap';
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TraceView'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  traceBind: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['FullTraceDraft'];
      };
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['FullTraceView'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listQueues: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['QueueList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  pauseQueue: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['QueueAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  resumeQueue: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['QueueAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  'retry-failedQueue': {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['QueueAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listMessages: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
        direction?: 'in' | 'out';
        sessionId?: string;
        phone?: string;
        test?: 'true' | 'false';
        fate?:
          | 'matched'
          | 'duplicate'
          | 'wrong_sender'
          | 'unknown_token'
          | 'expired'
          | 'ended'
          | 'no_token'
          | 'untrusted'
          | 'ambiguous_sender'
          | 'queued'
          | 'sending'
          | 'submitted'
          | 'delivered'
          | 'undelivered'
          | 'failed';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MessageList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getMessage: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MessageAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  revealMessage: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MessageAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listDeliveryRecords: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
        accountId?: string;
        status?: 'pending' | 'succeeded' | 'failed' | 'blocked';
        sessionId?: string;
        test?: 'true' | 'false';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DeliveryRecordList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getDeliveryRecord: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DeliveryDetailAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  retryDeliveryRecord: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DeliveryDetailAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listSessionRecords: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
        phone?: string;
        id?: string;
        test?: 'true' | 'false';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionRecordList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getSessionRecord: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionRecordAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getSessionTimeline: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionTimeline'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getOverview: {
    parameters: {
      query?: {
        from?: string;
        to?: string;
        groupBy?: 'country' | 'channel' | 'brand' | 'route' | 'day' | 'hour';
        test?: 'true' | 'false';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OverviewAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listAuditEntries: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
        resource?: string;
        resourceId?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AuditList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listDeliveries: {
    parameters: {
      query?: {
        status?: 'pending' | 'succeeded' | 'failed' | 'blocked';
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DeliveryListAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getDelivery: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        deliveryId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DeliveryAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  retryDelivery: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        deliveryId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DeliveryAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  testWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['TestWebhook'];
      };
    };
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DeliveryAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getOwnAccount: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OwnAccountAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getAccountWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OwnWebhookAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  updateAccountWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OwnWebhookChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OwnWebhookAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  rotateAccountWebhookSecret: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RotatedSecretAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listAccountKeys: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['KeyList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  createAccountKey: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OwnKeyDraft'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['KeyAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  rotateAccountKey: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['KeyAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  revokeAccountKey: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['KeyAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listAccountBrands: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OwnBrandList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getAccountBrand: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OwnBrandAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  updateAccountBrand: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['OwnBrandChange'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OwnBrandAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listAccountRequests: {
    parameters: {
      query?: {
        limit?: number;
        startingAfter?: string;
        format?: 'json' | 'csv';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RequestList'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  signInWithKey: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['KeySignIn'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeAnswer'];
        };
      };
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SecondStepAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  listSignInWays: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SignInWays'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getPhoneSignIn: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PhoneSignInState'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  beginPhoneSignIn: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['PhoneSignInStart'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PhoneSignInAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  sendSignInCode: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  checkSignInCode: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CheckCode'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getSecondStep: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SecondStepState'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  sendSecondStepCode: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  checkSecondStepCode: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CheckCode'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  getMe: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  signOut: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
  confirmConsoleSession: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SessionConfirmation'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeAnswer'];
        };
      };
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ErrorAnswer'];
        };
      };
    };
  };
}
