/* Preloaded into OsmoMSC, which opens SCTP sockets for its radio network and ends when the kernel has no SCTP, as in most
 * containers. They become TCP sockets on loopback, which nothing uses. SMPP runs over TCP and is not changed. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

typedef int (*socket_t)(int, int, int);
typedef int (*setsockopt_t)(int, int, int, const void *, socklen_t);

int socket(int domain, int type, int protocol) {
    socket_t real = (socket_t)dlsym(RTLD_NEXT, "socket");
    if (protocol != IPPROTO_SCTP) return real(domain, type, protocol);
    struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = real(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0) bind(fd, (struct sockaddr *)&loopback, sizeof loopback);
    return fd;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t length) {
    setsockopt_t real = (setsockopt_t)dlsym(RTLD_NEXT, "setsockopt");
    return level == IPPROTO_SCTP ? 0 : real(fd, level, name, value, length);
}
