#include "engine/messages/message_text.h"

namespace dma {

std::string message_text(const Natural& message, const Family& family) { return family->text({&message, 1}); }

}  // namespace dma
