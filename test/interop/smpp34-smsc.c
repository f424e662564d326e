/* An SMSC on libsmpp34: takes one connection at a time, answers it, prints what it received, and executes the lines of
 * its standard input.
 *   smpp34-smsc SYSTEM_ID PASSWORD */
#include "smpp34-link.h"

static const char *system_id, *password;
static int listener, peer = -1;
static uint32_t sequence = 1;
static int submits = 0, throttled = 0;
static pdu_t pdu;

static void gone(void) {
    puts("gone");
    close(peer);
    peer = -1;
}

static void answer_bind(uint32_t id) {
    const char *kind = id == BIND_TRANSMITTER ? "transmitter" : id == BIND_RECEIVER ? "receiver" : "transceiver";
    const char *given_id = (char *)pdu.bind.system_id, *given_password = (char *)pdu.bind.password;
    int is_right = strcmp(given_id, system_id) == 0 && strcmp(given_password, password) == 0;
    bind_transceiver_resp_t answer = {
        .command_id = id | RESPONSE,
        .command_status = is_right ? ESME_ROK : ESME_RINVPASWD,
        .sequence_number = pdu.header.sequence_number,
    };
    if (is_right) {
        set(answer.system_id, "SMPP34");
        add_number(&answer.tlv, TLVID_sc_interface_version, SMPP_VERSION, 1);
    }
    send_pdu(peer, &answer);
    destroy_tlv(answer.tlv);
    printf("bind %s\nbound %u\n", kind, answer.command_status);
}

static void answer_submit(void) {
    const submit_sm_t *submit = &pdu.submit_sm;
    submit_sm_resp_t answer = {.command_id = SUBMIT_SM_RESP, .sequence_number = submit->sequence_number};
    if (throttled > 0) {
        throttled--;
        answer.command_status = ESME_RTHROTTLED;
        puts("throttled");
    } else {
        sprintf((char *)answer.message_id, "c-%d", submits++);
        /* Printed before the answer: a test that acts on the answer finds the line. */
        printf("submitted %s %s %s ", answer.message_id, submit->source_addr, submit->destination_addr);
        print_hex(submit->short_message, submit->sm_length);
        printf(" %u %u %u\n", submit->registered_delivery, submit->data_coding, submit->esm_class);
    }
    send_pdu(peer, &answer);
}

static void serve(void) {
    if (!read_pdu(peer, &pdu)) return gone();
    uint32_t id = pdu.header.command_id, status = pdu.header.command_status;
    switch (id) {
    case BIND_TRANSMITTER:
    case BIND_RECEIVER:
    case BIND_TRANSCEIVER:
        answer_bind(id);
        break;
    case SUBMIT_SM:
        answer_submit();
        break;
    case ENQUIRE_LINK:
    case UNBIND:
        send_bare(peer, id | RESPONSE, ESME_ROK, pdu.header.sequence_number);
        puts(id == UNBIND ? "unbound" : "enquired");
        break;
    case DELIVER_SM_RESP:
        printf("delivered %u\n", status);
        break;
    case ENQUIRE_LINK_RESP:
        printf("answered %u\n", status);
        break;
    case UNBIND_RESP:
        gone();
        break;
    default:
        fail("serving", id);
    }
}

static void deliver(deliver_sm_t request) {
    request.command_id = DELIVER_SM;
    request.sequence_number = sequence++;
    send_pdu(peer, &request);
    destroy_tlv(request.tlv);
}

static void deliver_text(char **words) {
    deliver_sm_t request = {.esm_class = atoi(words[4]), .data_coding = atoi(words[5])};
    ADDRESS(request, words[1], words[2]);
    TEXT(request, words[3]);
    deliver(request);
}

/* A receipt without a text: the id and the state are in TLVs. */
static void deliver_receipt(char **words) {
    deliver_sm_t request = {.esm_class = SMPP34_DELIVERY_RECEIPT};
    ADDRESS(request, words[1], words[2]);
    add_tlv(&request.tlv, TLVID_receipted_message_id, words[3], strlen(words[3]) + 1);
    add_number(&request.tlv, TLVID_message_state, atoi(words[4]), 1);
    deliver(request);
}

static void execute(char **words) {
    const char *command = words[0];
    if (strcmp(command, "throttle") == 0) {
        throttled = atoi(words[1]);
        puts("throttling");
    } else if (peer < 0) fail(command, 0);
    else if (strcmp(command, "deliver") == 0) deliver_text(words);
    else if (strcmp(command, "receipt") == 0) deliver_receipt(words);
    else if (strcmp(command, "enquire") == 0) send_bare(peer, ENQUIRE_LINK, ESME_ROK, sequence++);
    else if (strcmp(command, "unbind") == 0) send_bare(peer, UNBIND, ESME_ROK, sequence++);
    else if (strcmp(command, "drop") == 0) gone();
}

static void accept_next(void) {
    int next = accept(listener, NULL, NULL);
    if (next < 0) return;
    if (peer >= 0) gone();
    peer = next;
}

int main(int count, char **args) {
    if (count != 3) return 2;
    system_id = args[1];
    password = args[2];
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 10) != 0) return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("listening %u\n", ntohs(address.sin_port));

    char line[MAX_LINE], *words[MAX_WORDS];
    for (;;) {
        struct pollfd waiting[] = {
            {.fd = STDIN_FILENO, .events = POLLIN}, {.fd = listener, .events = POLLIN}, {.fd = peer, .events = POLLIN}};
        /* poll ignores a negative descriptor. */
        if (poll(waiting, 3, -1) <= 0) return 1;
        if (waiting[2].revents != 0) serve();
        else if (waiting[1].revents != 0) accept_next();
        else if (waiting[0].revents != 0) {
            if (read_words(line, words) == 0) return 0;
            execute(words);
        }
    }
}
